/**
 * The part of WebAssembly that kernels and stores use. TypeScript declares it only together with the whole
 * DOM.
 */
interface WebAssemblyGlobal {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => Module;
  readonly Instance: new (
    module: Module,
    imports: Readonly<Record<string, Readonly<Record<string, Memory>>>>,
  ) => { readonly exports: object };
}

/** A memory of 64 KiB pages. It never grows, so its buffer never changes. */
export interface Memory {
  readonly buffer: ArrayBuffer;
}

/** Compiled code. */
export interface Module {
  readonly module?: never;
}

/** JavaScript's `WebAssembly`. */
export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyGlobal }).WebAssembly;
