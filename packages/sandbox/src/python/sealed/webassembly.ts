/** The part of WebAssembly that is used. TypeScript declares it only together with the whole DOM. */
export interface WebAssemblyGlobal {
  instantiate: (source: object, imports?: WasmImports) => Promise<{ readonly instance?: WasmInstance }>;
  compile: (source: object) => Promise<WasmModule>;
}

/** Compiled code. Threads can share it. */
export type WasmModule = object;

/** A function on either side of the wall. */
export type WasmFunction = (...args: number[]) => number;

/** Imports of a module, by module and name. */
export type WasmImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A running module. */
export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

/** WebAssembly of this thread. */
export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyGlobal }).WebAssembly;
