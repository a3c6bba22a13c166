/**
 * Whether training and sampling are right on this machine's card, and how fast they are beside PyTorch with CUDA. Prints two tables.
 *
 *     node --conditions=@rlp/source --import tsx lab/gpu/gpu.ts [--provider webgpu,cuda] [--shape M,L] [--peer PYTHON] [--software]
 *
 * WebGPU needs a Vulkan loader and the card's driver: Debian's package libvulkan1. CUDA needs `libonnxruntime_providers_cuda.so` and
 * `libonnxruntime_providers_shared.so` of PyPI's onnxruntime-gpu beside `libonnxruntime.so.1` of onnxruntime-node, and the libraries
 * of CUDA 13, also from PyPI, on LD_LIBRARY_PATH. `rlp doctor` says which file is missing. PYTHON is an interpreter with a
 * PyTorch for CUDA. `--software` takes the Vulkan driver of Debian's chromium, which proves results and says nothing of speed.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    provider: { type: 'string', default: 'webgpu,cuda' },
    shape: { type: 'string', default: 'M,L' },
    peer: { type: 'string', default: process.env.RLP_BENCH_PYTHON ?? '' },
    software: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
  },
});
const chromium = '/usr/lib/chromium';
const software = {
  LD_LIBRARY_PATH: chromium,
  VK_ICD_FILENAMES: join(chromium, 'vk_swiftshader_icd.json'),
};
const environment = { ...process.env, ...(values.software && software) };
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Largest accepted differences from the processor: float32 in another order. */
const bounds = { logprobs: 1e-3, loss: 1e-3, gradientNorm: 5e-3 };

async function card(): Promise<string> {
  if (values.software) return 'software driver';
  try {
    const { stdout } = await run('nvidia-smi', ['--query-gpu=name,memory.total', '--format=csv,noheader']);
    return stdout.trim();
  } catch {
    return 'no NVIDIA card found';
  }
}

async function lines(script: string, ...argv: string[]): Promise<Record<string, unknown>[]> {
  const flags = ['--conditions=@rlp/source', '--import', 'tsx', join(import.meta.dirname, script), ...argv];
  const { stdout } = await run(process.execPath, flags, { env: environment, maxBuffer: 2 ** 26 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The sentence that says what failed: the last line of an error that is not of a stack. */
function reasonOf(error: unknown): string {
  const text = (error as { stderr?: string }).stderr ?? String(error);
  return text.split('\n').find((line) => /^\w*Error: /.test(line)) ?? text.trim().split('\n').at(-1)!;
}

async function agreement(provider: string): Promise<boolean> {
  try {
    const [found] = await lines('agreement.ts', provider);
    const { sameTokens, ...differences } = found as { sameTokens: boolean } & typeof bounds;
    const names = Object.keys(bounds) as (keyof typeof bounds)[];
    const right = sameTokens && names.every((name) => differences[name] <= bounds[name]);
    const figures = names.map((name) => differences[name].toExponential(1)).join(' | ');
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

async function speeds(provider: string): Promise<void> {
  const flags = [
    '--provider',
    provider,
    '--shape',
    values.shape,
    '--rounds',
    values.rounds,
    '--peer',
    values.peer,
  ];
  for (const line of await lines('../bench.ts', 'train-step', 'generate', ...flags)) {
    const isOurs = line.skipped === undefined && line.kernels === undefined;
    const { name, shape, value, ratio, ratioBf16, skipped } = line;
    print(
      `| ${[name, shape, isOurs ? provider : line.peer, skipped ?? value, ratio ?? '', ratioBf16 ?? ''].join(' | ')} |`,
    );
  }
}

if (values.software && !existsSync(software.VK_ICD_FILENAMES)) {
  throw new Error(`expected ${software.VK_ICD_FILENAMES}; install Debian's package chromium`);
}
print(`Card: ${await card()}\n`);
print(
  '| provider | greedy tokens | logprobs, absolute | loss, relative | gradient norm, relative | verdict |',
);
print('| --- | --- | --- | --- | --- | --- |');
const right: string[] = [];
for (const provider of values.provider.split(',')) if (await agreement(provider)) right.push(provider);
if (right.length > 0 && !values.software) {
  print('\n| what | shape | side | tokens/s | ratio to PyTorch | ratio to its bfloat16 |');
  print('| --- | --- | --- | --- | --- | --- |');
  for (const provider of right) await speeds(provider);
}
