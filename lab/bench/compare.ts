import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BenchName } from './arguments.ts';
import { measureGenerate } from './generate.ts';
import { growthLines, measureGrowth } from './growth/lines.ts';
import { type IterationShape, iterationShapes, writeJob } from './iteration/job.ts';
import { measureIteration } from './iteration/measure.ts';
import type { Measurement, MeasureOptions } from './measurement.ts';
import { type PeerSide, type PeerSides, peerSides, processorName } from './peer-sides.ts';
import { type Line, reportLine, summarize } from './report.ts';
import { type AnyShapeName, allShapes, isShapeOf, shapes } from './shapes.ts';
import { measureTrainStep } from './train-step.ts';

/** How sides are compared. */
export interface CompareOptions extends MeasureOptions {
  /** Python interpreter with PyTorch, and TRL for iterations; empty for none. */
  readonly peer: string;
  readonly rounds: number;
}

/** Work of one process: a shape, the path of a job for iterations, or a place of a growing axis. */
interface Work {
  readonly name: BenchName | 'growth';
  readonly subject: string;
}

/** One measurement, in this process. */
export function measureHere({ name, subject }: Work, options: MeasureOptions): Promise<Measurement> {
  if (name === 'iteration') return measureIteration(subject, options);
  if (name === 'growth') return measureGrowth(subject, options);
  const shape = allShapes[subject as AnyShapeName];
  return name === 'generate' ? measureGenerate(shape, options) : measureTrainStep(shape, options);
}

/** Growth of our own time and memory, a process for each point. */
export function growth(options: CompareOptions & { readonly plot: string }): AsyncGenerator<Line> {
  return growthLines(options, (subject) => ourProcess({ name: 'growth', subject }, options));
}

/** Whether a measurement knows a shape. */
export function knowsShape(name: BenchName, shape: string): boolean {
  if (name === 'iteration') return shape in iterationShapes;
  return shape in allShapes && isShapeOf(name, shape as AnyShapeName);
}

/** Of each measurement, unless others are asked for. */
export const usualShapes: Readonly<Record<BenchName, readonly string[]>> = {
  'train-step': ['S', 'M', 'L'],
  generate: ['S', 'M', 'L'],
  iteration: ['stories260k', 'S', 'M', 'stories260k-400', 'S-512', 'M-512'],
};

interface Side {
  readonly peer: string | undefined;
  readonly kernels?: string;
  measure(): Promise<Measurement>;
}

/**
 * Measures one shape: ours, then the peer as installed, at its strongest in float32 and in bfloat16; again in every round.
 * Yields a line for each peer and last ours, with its ratios.
 */
export async function* compare(
  name: BenchName,
  shape: string,
  options: CompareOptions,
): AsyncGenerator<Line> {
  const library = name === 'iteration' ? 'trl' : 'pytorch';
  const iterations = options.warmup + options.runs;
  const subject = name === 'iteration' ? await writeJob(shape as IterationShape, iterations) : shape;
  const work = { name, subject };
  const { sides, skipped, close } = await peersOf(name, shape, options);
  for (const { suffix, reason } of skipped)
    yield { name, shape, peer: `${library}${suffix}`, skipped: reason };
  const ours: Side = { peer: undefined, measure: () => ourProcess(work, options) };
  const peers = sides.map((side) => ({
    peer: `${library}${side.suffix}`,
    kernels: side.kernels,
    measure: () => peerProcess(work, options, side),
  }));
  try {
    yield* measuredInTurn({ name, shape }, [ours, ...peers], options);
  } finally {
    await close();
    if (name === 'iteration') await rm(dirname(subject), { recursive: true, force: true });
  }
}

async function peersOf(
  name: BenchName,
  shape: string,
  { peer, provider }: CompareOptions,
): Promise<PeerSides> {
  const reason = await peerProblem(name, shape, peer);
  if (reason === undefined) return peerSides(provider);
  return { sides: [], skipped: [{ suffix: '', reason }], close: async () => undefined };
}

/** The first side is ours. */
async function* measuredInTurn(
  what: Line,
  sides: readonly Side[],
  { provider, threads, rounds, runs }: CompareOptions,
): AsyncGenerator<Line> {
  // Of the last minute, before the first run: what others did.
  const load = Number(loadavg()[0]!.toFixed(1));
  const found = sides.map((): Measurement[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, side] of sides.entries()) found[index]!.push(await side.measure());
  }
  const base = { ...what, processor: processorName, provider, threads, rounds, runs, load };
  const [ours, ...theirs] = found.map(summarize);
  const peers = theirs.map((summary, index) => ({
    ...summary,
    ...sides[index + 1]!,
    peer: sides[index + 1]!.peer!,
  }));
  for (const { peer, kernels, ...summary } of peers)
    yield reportLine({ ...base, peer, kernels }, summary, []);
  yield reportLine(base, ours!, peers);
}

const run = promisify(execFile);

async function peerProblem(name: BenchName, shape: string, python: string): Promise<string | undefined> {
  if (name !== 'iteration' && !(shape in shapes)) return 'PyTorch has no such shape';
  const needed = name === 'iteration' ? ['PyTorch and TRL', 'torch, trl'] : ['PyTorch', 'torch'];
  if (python === '')
    return `no Python: pass --peer PYTHON or set RLP_BENCH_PYTHON to an interpreter with ${needed[0]}`;
  try {
    await run(python, ['-c', `import ${needed[1]}`]);
    return undefined;
  } catch (error) {
    return `${python} cannot import ${needed[1]}: ${String(error).trim().split('\n').at(-1)}`;
  }
}

async function ourProcess({ name, subject }: Work, options: CompareOptions): Promise<Measurement> {
  const script = fileURLToPath(new URL('../bench.ts', import.meta.url));
  const { weights, profiling, provider } = options;
  const flags = ['--here', subject, '--weights', weights, '--profiling', profiling, '--provider', provider];
  return measured(process.execPath, [
    ...['--conditions=@rlp/source', '--import', 'tsx', script, name],
    ...flags,
    ...counts(options),
  ]);
}

async function peerProcess(
  { name, subject }: Work,
  options: CompareOptions,
  { environment, flags }: PeerSide,
): Promise<Measurement> {
  const script = name === 'iteration' ? 'trl_peer.py' : 'pytorch_peer.py';
  const work = name === 'iteration' ? [subject] : [name, JSON.stringify(allShapes[subject as AnyShapeName])];
  const path = fileURLToPath(new URL(script, import.meta.url));
  const device = options.provider === 'cpu' || name === 'iteration' ? [] : ['--device', 'cuda'];
  const measurement = await measured(
    options.peer,
    [path, ...work, ...counts(options), ...flags, ...device],
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
  environment: Readonly<Record<string, string>> = {},
): Promise<Measurement> {
  const { stdout } = await run(command, argv, { env: { ...process.env, ...environment } });
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Measurement;
}
