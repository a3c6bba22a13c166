import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { measureGenerate } from './generate.ts';
import type { Measurement, MeasureOptions } from './measurement.ts';
import { type Line, reportLine, summarize } from './report.ts';
import { type AnyShapeName, allShapes, shapes } from './shapes.ts';
import { measureTrainStep } from './train-step.ts';

/** What can be measured. */
export const names = ['train-step', 'generate'] as const;

/** Name of a measurement. */
export type BenchName = (typeof names)[number];

/** How sides are compared. */
export interface CompareOptions extends MeasureOptions {
  /** Python interpreter with PyTorch; empty for none. */
  readonly peer: string;
  readonly rounds: number;
}

const measures = { 'train-step': measureTrainStep, generate: measureGenerate };

/** One measurement, in this process. */
export function measureHere(
  name: BenchName,
  shape: AnyShapeName,
  options: MeasureOptions,
): Promise<Measurement> {
  return measures[name](allShapes[shape], options);
}

/** glibc returns large buffers to the kernel and faults them in again at every step, unless told to keep them. */
const keptBuffers = {
  MALLOC_MMAP_THRESHOLD_: String(2 ** 33),
  MALLOC_TRIM_THRESHOLD_: String(2 ** 34),
  MALLOC_TOP_PAD_: String(2 ** 28),
};

interface Side {
  readonly peer: string | undefined;
  measure(): Promise<Measurement>;
}

/**
 * Measures one shape: ours, then PyTorch as installed, then PyTorch with an allocator that keeps its buffers; again in every
 * round. Yields a line for each peer and last ours, with its ratios.
 */
export async function* compare(
  name: BenchName,
  shape: AnyShapeName,
  options: CompareOptions,
): AsyncGenerator<Line> {
  const ours: Side = { peer: undefined, measure: () => ourProcess(name, shape, options) };
  const reason = shape in shapes ? await peerProblem(options.peer) : 'PyTorch has no such shape';
  if (reason !== undefined) yield { name, shape, peer: 'pytorch', skipped: reason };
  const peerSide = (peer: string, environment: Record<string, string>): Side => ({
    peer,
    measure: () => peerProcess(name, shape, options, environment),
  });
  const peers = reason === undefined ? [peerSide('pytorch', {}), peerSide('pytorch-tuned', keptBuffers)] : [];
  // Of the last minute, before the first run: what others did.
  const load = Number(loadavg()[0]!.toFixed(1));
  const found = new Map<Side, Measurement[]>([ours, ...peers].map((side) => [side, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (const [side, measurements] of found) measurements.push(await side.measure());
  }
  const { threads, rounds, runs } = options;
  const base = { name, shape, threads, rounds, runs, load };
  const summaries = peers.map(({ peer }, index) => ({
    peer: peer!,
    ...summarize(found.get(peers[index]!)!),
  }));
  for (const { peer, ...summary } of summaries) yield reportLine({ ...base, peer }, summary, []);
  yield reportLine(base, summarize(found.get(ours)!), summaries);
}

const run = promisify(execFile);

async function peerProblem(python: string): Promise<string | undefined> {
  if (python === '')
    return 'no Python: pass --peer PYTHON or set RLP_BENCH_PYTHON to an interpreter with PyTorch';
  try {
    await run(python, ['-c', 'import torch']);
    return undefined;
  } catch (error) {
    return `${python} cannot import torch: ${String(error).trim().split('\n').at(-1)}`;
  }
}

async function ourProcess(
  name: BenchName,
  shape: AnyShapeName,
  options: CompareOptions,
): Promise<Measurement> {
  const script = fileURLToPath(new URL('../bench.ts', import.meta.url));
  const { weights, profiling } = options;
  const flags = ['--here', '--shape', shape, '--weights', weights, '--profiling', profiling];
  return measured(process.execPath, [
    ...['--conditions=@rlp/source', '--import', 'tsx', script, name],
    ...flags,
    ...counts(options),
  ]);
}

async function peerProcess(
  name: BenchName,
  shape: AnyShapeName,
  options: CompareOptions,
  environment: Record<string, string>,
): Promise<Measurement> {
  const script = fileURLToPath(new URL('pytorch_peer.py', import.meta.url));
  const measurement = await measured(
    options.peer,
    [script, name, JSON.stringify(allShapes[shape]), ...counts(options)],
    environment,
  );
  return { ...measurement, extra: {} };
}

function counts({ threads, warmup, runs }: MeasureOptions): string[] {
  return ['--threads', `${threads}`, '--warmup', `${warmup}`, '--runs', `${runs}`];
}

async function measured(
  command: string,
  argv: readonly string[],
  environment: Record<string, string> = {},
): Promise<Measurement> {
  const { stdout } = await run(command, argv, { env: { ...process.env, ...environment } });
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Measurement;
}
