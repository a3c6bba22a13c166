/** The part of WebAssembly that the text kernel uses; TypeScript declares it only together with the whole DOM. */
interface WebAssemblyGlobal {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
}

/** JavaScript's `WebAssembly`, where the platform has it. */
export const webAssembly = (globalThis as { readonly WebAssembly?: WebAssemblyGlobal }).WebAssembly;
