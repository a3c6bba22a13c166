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

let compiled: object | undefined;
let unavailable = webAssembly === undefined;

/** A new instance (1.2 MiB), or `undefined` where WebAssembly or its SIMD is missing or forbidden. Compiled once per thread. */
export function createKernel(): Kernel | undefined {
  if (webAssembly === undefined || unavailable) return undefined;
  try {
    compiled ??= new webAssembly.Module(Uint8Array.from(atob(kernelBase64), (char) => char.charCodeAt(0)));
    return new webAssembly.Instance(compiled).exports as Kernel;
  } catch {
    unavailable = true;
    return undefined;
  }
}
