/**
 * Whether training and sampling are right on this machine's card, and how fast they are beside PyTorch with CUDA. Prints two tables.
 *
 *     node --conditions=@rlp/source --import tsx lab/gpu/gpu.ts [--provider webgpu,cuda] [--shape M,L] [--peer PYTHON] [--rounds 1] [--runs 5]
 *                [--software]
 *
 * `docs/guides/train-on-a-gpu.md` says what each provider needs. PYTHON is an interpreter with a PyTorch for CUDA. Sides take turns in
 * every round. `--software` takes the Vulkan driver of Debian's chromium, which proves results and says nothing of speed.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { median } from '../bench/report.ts';
import { type ShapeName, shapes } from '../bench/shapes.ts';

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    provider: { type: 'string', default: 'webgpu,cuda' },
    shape: { type: 'string', default: 'M,L' },
    peer: { type: 'string', default: process.env.RLP_BENCH_PYTHON ?? '' },
    software: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '1' },
    runs: { type: 'string', default: '5' },
  },
});
const chromium = '/usr/lib/chromium';
const software = {
  LD_LIBRARY_PATH: chromium,
  VK_ICD_FILENAMES: join(chromium, 'vk_swiftshader_icd.json'),
};
const environment = { ...process.env, ...(values.software && software) };
const print = (line: string) => process.stdout.write(`${line}\n`);
const names = ['train-step', 'generate'] as const;

/** Largest accepted differences from the processor: float32 in another order, and rounding to float16. */
const bounds = { logprobs: 1e-3, loss: 1e-3, gradientNorm: 5e-3, float16: 0.05, mixed: 0.02 };

async function card(): Promise<string> {
  if (values.software) return 'software driver';
  try {
    const { stdout } = await run('nvidia-smi', ['--query-gpu=name,memory.total', '--format=csv,noheader']);
    return stdout.trim();
  } catch {
    return 'no NVIDIA card found';
  }
}

async function lines(command: string, argv: readonly string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await run(command, [...argv], { env: environment, maxBuffer: 2 ** 26 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function ourLines(script: string, ...argv: string[]): Promise<Record<string, unknown>[]> {
  const flags = ['--conditions=@rlp/source', '--import', 'tsx', join(import.meta.dirname, script), ...argv];
  return lines(process.execPath, flags);
}

/** The sentence that says what failed: the last line of an error that is not of a stack. */
function reasonOf(error: unknown): string {
  const text = (error as { stderr?: string }).stderr ?? String(error);
  return text.split('\n').find((line) => /^\w*Error: /.test(line)) ?? text.trim().split('\n').at(-1)!;
}

async function agreement(provider: string): Promise<boolean> {
  try {
    const [found] = await ourLines('agreement.ts', provider);
    const { sameTokens, ...differences } = found as { sameTokens: boolean } & typeof bounds;
    const measures = Object.keys(bounds) as (keyof typeof bounds)[];
    const right = sameTokens && measures.every((name) => differences[name] <= bounds[name]);
    const figures = measures.map((name) => differences[name]?.toExponential(1) ?? 'not here').join(' | ');
    print(
      `| ${provider} | ${sameTokens ? 'the same' : 'others'} | ${figures} | ${right ? 'right' : 'WRONG'} |`,
    );
    if (!right) process.exitCode = 1;
    return right;
  } catch (error) {
    print(`| ${provider} | skipped: ${reasonOf(error)} |`);
    return false;
  }
}

/** Milliseconds of all runs of a side by what was measured. */
type Times = Map<string, { readonly milliseconds: number[]; tokens: number }>;

function note(times: Times, key: string, { milliseconds, tokens }: Record<string, unknown>): void {
  const known = times.get(key) ?? { milliseconds: [], tokens: Number(tokens) };
  known.milliseconds.push(...(milliseconds as number[]));
  times.set(key, known);
}

async function peerLine(name: string, shape: ShapeName, flags: readonly string[]) {
  const script = join(import.meta.dirname, '../bench/pytorch_peer.py');
  const counts = ['--threads', '2', '--warmup', '2', '--runs', values.runs, '--device', 'cuda'];
  return (await lines(values.peer, [script, name, JSON.stringify(shapes[shape]), ...counts, ...flags]))[0]!;
}

async function round(shape: ShapeName, providers: readonly string[], times: Times): Promise<void> {
  for (const provider of providers) {
    try {
      for (const line of await ourLines('speed.ts', provider, shape, values.runs)) {
        if (line.error === undefined) note(times, `${line.name} ${line.side}`, line);
        else print(`${line.name}, ${shape}, ${line.side}: ${line.error}`);
      }
    } catch (error) {
      print(`${provider}, ${shape}: ${reasonOf(error)}`);
    }
  }
  if (values.peer === '') return;
  for (const name of names) {
    note(times, `${name} PyTorch`, await peerLine(name, shape, []));
    note(times, `${name} PyTorch in bfloat16`, await peerLine(name, shape, ['--bf16']));
  }
}

function printTimes(shape: ShapeName, times: Times): void {
  for (const name of names) {
    const peer = times.get(`${name} PyTorch`);
    for (const [key, { milliseconds, tokens }] of times) {
      if (!key.startsWith(`${name} `)) continue;
      const middle = median(milliseconds);
      const ratio = peer ? (median(peer.milliseconds) / middle).toFixed(2) : '';
      const speed = Math.round((1000 * tokens) / middle);
      print(
        `| ${name} | ${shape} | ${key.slice(name.length + 1)} | ${middle.toFixed(1)} | ${speed} | ${ratio} |`,
      );
    }
  }
}

if (values.software && !existsSync(software.VK_ICD_FILENAMES)) {
  throw new Error(`expected ${software.VK_ICD_FILENAMES}; install Debian's package chromium`);
}
print(`Card: ${await card()}\n`);
print(
  '| provider | greedy tokens | logprobs, absolute | loss, relative | gradient norm, relative | float16 logprobs | mixed precision, relative | verdict |',
);
print('| --- | --- | --- | --- | --- | --- | --- | --- |');
const right: string[] = [];
for (const provider of values.provider.split(',')) if (await agreement(provider)) right.push(provider);
if (right.length > 0 && !values.software) {
  print('\n| what | shape | side | ms | tokens/s | ratio to PyTorch |');
  print('| --- | --- | --- | --- | --- | --- |');
  for (const shape of values.shape.split(',') as ShapeName[]) {
    const times: Times = new Map();
    for (let turn = 0; turn < Number(values.rounds); turn++) await round(shape, right, times);
    printTimes(shape, times);
  }
}
