import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A way to run the peer. */
export interface PeerSide {
  /** Ends the peer's name: `pytorch`, `pytorch-strongest`, `pytorch-bf16`. */
  readonly suffix: '' | '-strongest' | '-bf16';
  readonly environment: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  /** Which matrix kernels it runs. */
  readonly kernels: string;
}

/** glibc returns large buffers to the kernel and faults them in again at every step, unless told to keep them. */
const keptBuffers = {
  MALLOC_MMAP_THRESHOLD_: String(2 ** 33),
  MALLOC_TRIM_THRESHOLD_: String(2 ** 34),
  MALLOC_TOP_PAD_: String(2 ** 28),
};

/** Model name of the processor. */
export const processorName = cpus()[0]?.model.trim() ?? 'unknown';

/** Why bfloat16 is not worth measuring on a processor. `undefined` where it may be. */
export function bfloat16Problem(): string | undefined {
  try {
    const flags = readFileSync('/proc/cpuinfo', 'utf8');
    return /\b(avx512_bf16|amx_bf16|bf16)\b/.test(flags) ? undefined : 'this processor has no bfloat16';
  } catch {
    // Only Linux has this file.
    return undefined;
  }
}

/**
 * PyTorch as installed, PyTorch at its strongest in float32, and the same in bfloat16.
 *
 * PyTorch's matrix library takes a slow path on processors that are not Intel's. A preloaded function of one line switches its
 * fast kernels on. It is compiled here, so it needs `cc`.
 */
export async function peerSides(): Promise<{ sides: PeerSide[]; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'rlp-bench-'));
  const preloaded = /intel/i.test(processorName) ? undefined : await fastKernels(folder);
  const environment = { ...keptBuffers, ...(preloaded?.library && { LD_PRELOAD: preloaded.library }) };
  const kernels = preloaded?.kernels ?? 'MKL as installed';
  return {
    sides: [
      { suffix: '', environment: {}, flags: [], kernels: 'MKL as installed' },
      { suffix: '-strongest', environment, flags: [], kernels },
      { suffix: '-bf16', environment, flags: ['--bf16'], kernels },
    ],
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

async function fastKernels(folder: string): Promise<{ library?: string; kernels: string }> {
  const source = join(folder, 'kernels.c');
  const library = join(folder, 'libkernels.so');
  await writeFile(source, 'int mkl_serv_intel_cpu_true(void) { return 1; }\n');
  try {
    await run('cc', ['-shared', '-fPIC', source, '-o', library]);
    return { library, kernels: 'MKL with its fast kernels switched on' };
  } catch {
    return { kernels: 'MKL as installed: no C compiler to switch its fast kernels on' };
  }
}
