import { readFileSync } from 'node:fs';
import type { Engine } from '@rlp/onnx/runtime';

/** How one measurement is taken. */
export interface MeasureOptions {
  /** Execution provider of the engine. The peer runs on a card unless it is `'cpu'`. */
  readonly provider: 'cpu' | 'webgpu' | 'cuda';
  readonly threads: number;
  /** Runs before the clock starts. */
  readonly warmup: number;
  readonly runs: number;
  /** Where generation keeps its weights. */
  readonly weights: 'shared' | 'packed' | 'int8' | 'float16';
  /** `'operators'` reports what each operator took, in training instead of what lies outside of sessions; it slows the run down. */
  readonly profiling: 'runs' | 'operators';
}

/** What one process measured. */
export interface Measurement {
  /** Of each run. */
  readonly milliseconds: readonly number[];
  /** Processor time of each run, all threads together; threads that wait by spinning count. */
  readonly processorMilliseconds: readonly number[];
  /** Of one run. */
  readonly tokens: number;
  readonly peakRssMiB: number;
  readonly extra: Readonly<Record<string, unknown>>;
  /** Version of the library, from the peer. */
  readonly version?: string;
}

/** Times of repeated runs, after `warmup` of them. */
export async function timeRuns(
  { warmup, runs }: MeasureOptions,
  run: (index: number) => Promise<unknown>,
  onWarm: () => Promise<void> | void = () => {},
): Promise<Pick<Measurement, 'milliseconds' | 'processorMilliseconds'>> {
  for (let index = 0; index < warmup; index++) await run(index);
  await onWarm();
  const milliseconds: number[] = [];
  const processorMilliseconds: number[] = [];
  for (let index = warmup; index < warmup + runs; index++) {
    const start = performance.now();
    const before = process.cpuUsage();
    await run(index);
    const { user, system } = process.cpuUsage(before);
    milliseconds.push(performance.now() - start);
    processorMilliseconds.push((user + system) / 1000);
  }
  return { milliseconds, processorMilliseconds };
}

/** Largest resident memory of this process so far. The kernel's own mark, where there is one, begins at the program's start. */
export function peakMebibytes(): number {
  try {
    const mark = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    if (mark !== undefined) return Number(mark) / 1024;
  } catch {
    // Only Linux has this file.
  }
  return process.resourceUsage().maxRSS / 1024;
}

/** Shares of an engine's time that its operators took. */
export function operatorShares(times: Awaited<ReturnType<Engine['profile']>>): Record<string, string> {
  const total = times.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  return Object.fromEntries(
    times
      .slice(0, 12)
      .map(({ operator, count, milliseconds }) => [
        operator,
        `${((100 * milliseconds) / total).toFixed(1)} % in ${count}`,
      ]),
  );
}
