import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { MeasureOptions } from './measurement.ts';

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

/** Whether this processor has bfloat16. Only Linux tells; elsewhere it may. */
function mayHaveBfloat16(): boolean {
  try {
    return /\b(avx512_bf16|amx_bf16|bf16)\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));
  } catch {
    return true;
  }
}

/** Ways to run the peer, and what is left out. */
export interface PeerSides {
  readonly sides: readonly PeerSide[];
  readonly skipped: readonly { readonly suffix: PeerSide['suffix']; readonly reason: string }[];
  close(): Promise<void>;
}

/**
 * PyTorch as installed, PyTorch at its strongest in float32, and the same in bfloat16.
 *
 * PyTorch's matrix library takes a slow path on processors that are not Intel's. A preloaded function of one line switches its
 * fast kernels on. It is compiled here, so it needs `cc`.
 */
export async function peerSides(provider: MeasureOptions['provider']): Promise<PeerSides> {
  const folder = await mkdtemp(join(tmpdir(), 'rlp-bench-'));
  const preloaded = /intel/i.test(processorName) ? undefined : await fastKernels(folder);
  const environment = { ...keptBuffers, ...(preloaded?.library && { LD_PRELOAD: preloaded.library }) };
  const kernels = preloaded?.kernels ?? 'MKL as installed';
  const isAble = provider !== 'cpu' || mayHaveBfloat16();
  const half: PeerSide = { suffix: '-bf16', environment, flags: ['--bf16'], kernels };
  return {
    sides: [
      { suffix: '', environment: {}, flags: [], kernels: 'MKL as installed' },
      { suffix: '-strongest', environment, flags: [], kernels },
      ...(isAble ? [half] : []),
    ],
    skipped: isAble ? [] : [{ suffix: '-bf16', reason: 'this processor has no bfloat16' }],
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
