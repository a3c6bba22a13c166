import { kernelBase64 } from './kernel-binary.ts';
import { webAssembly } from './web-assembly.ts';

/** One instance of `kernel.wat` with its memory, which never grows. */
export interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** 0, or 1 where the text has to be scanned otherwise. */
  scan(length: number, patterns: number): 0 | 1;
  weigh(address: number, count: number, w0: number, w1: number, w2: number, w3: number): void;
}

/** Bytes of text that the kernel takes at once: its hash table holds 16 383 words. */
export const maximumTextBytes = 32_766;

let shared: Kernel | 'missing' | undefined;

/**
 * The thread's instance of the kernel (1.5 MiB), or `undefined` where WebAssembly or its SIMD is missing or forbidden.
 *
 * Its calls are synchronous and keep nothing but patterns, so everyone may use it.
 */
export function sharedKernel(): Kernel | undefined {
  shared ??= createKernel() ?? 'missing';
  return shared === 'missing' ? undefined : shared;
}

function createKernel(): Kernel | undefined {
  if (webAssembly === undefined) return undefined;
  try {
    const bytes = Uint8Array.from(atob(kernelBase64), (char) => char.charCodeAt(0));
    return new webAssembly.Instance(new webAssembly.Module(bytes)).exports as Kernel;
  } catch {
    return undefined;
  }
}
