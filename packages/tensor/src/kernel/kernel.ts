import { bytesOf } from '@rlp/core';
import { kernelBase64 } from './kernel-binary.ts';

/** The loops that the kernel has. `scripts/kernel-text.ts` says what each computes. */
export type LoopName =
  | 'add'
  | 'sub'
  | 'mul'
  | 'div'
  | 'minimum'
  | 'maximum'
  | 'greater'
  | 'greaterEqual'
  | 'neg'
  | 'abs'
  | 'square'
  | 'sqrt'
  | 'clip'
  | 'select'
  | 'addInto'
  | 'subInto'
  | 'mulInto'
  | 'squareInto'
  | 'divInto'
  | 'smallerInto'
  | 'largerInto'
  | 'clipInto'
  | 'selectInto'
  | 'rejectInto';

type Loop = (...numbers: number[]) => void;

/** One instance of the kernel with its memory, which never grows. */
type Kernel = { readonly memory: { readonly buffer: ArrayBuffer } } & Readonly<Record<LoopName, Loop>>;

/** The part of WebAssembly that is used here; TypeScript declares it only together with the whole DOM. */
interface WebAssemblyGlobal {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
}

let shared: Kernel | undefined;
let memory: ArrayBuffer | undefined;
let state: 'untried' | 'ready' | 'missing' = 'untried';

/** Memory of the thread's kernel, or nothing if WebAssembly or its SIMD is missing or forbidden. */
export function kernelMemory(): ArrayBuffer | undefined {
  if (state === 'untried') {
    shared = createKernel();
    memory = shared?.memory.buffer;
    state = shared === undefined ? 'missing' : 'ready';
  }
  return memory;
}

function createKernel(): Kernel | undefined {
  const { WebAssembly: webAssembly } = globalThis as { readonly WebAssembly?: WebAssemblyGlobal };
  if (webAssembly === undefined) return undefined;
  try {
    return new webAssembly.Instance(new webAssembly.Module(bytesOf(kernelBase64))).exports as Kernel;
  } catch {
    return undefined;
  }
}

/**
 * Runs a loop over operands of equal length, two numbers at a time, if all of them lie in the kernel's memory. Its results have
 * the bits of the plain loop's.
 *
 * @param operands - In the order of the loop's parameters; the last is written to.
 * @returns Whether it ran.
 */
export function ranInKernel(
  loop: LoopName,
  operands: readonly Float64Array[],
  low?: number,
  high?: number,
): boolean {
  if (shared === undefined) return false;
  for (const { buffer } of operands) if (buffer !== memory) return false;
  const run = shared[loop];
  const [first, second, third, fourth] = operands as readonly [Float64Array, Float64Array, ...Float64Array[]];
  const bytes = first.byteLength;
  if (third === undefined) run(first.byteOffset, second.byteOffset, bytes, low!, high!);
  else if (fourth === undefined) {
    run(first.byteOffset, second.byteOffset, third.byteOffset, bytes, low!, high!);
  } else run(first.byteOffset, second.byteOffset, third.byteOffset, fourth.byteOffset, bytes);
  return true;
}
