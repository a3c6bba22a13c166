/**
 * The engine in a browser, on the WebAssembly build of ONNX Runtime. Bundlers for browsers take it in place of `@rlp/onnx/runtime`.
 */
import type { Engine } from './runtime/protocol.ts';
import { openWebEngine, type WebEngineOptions } from './runtime/web/open-web-engine.ts';

export { Tensor } from 'onnxruntime-common';
export type { EngineTimeouts } from './runtime/options.ts';
export { programUrl } from './runtime/program-url.ts';
export type * from './runtime/protocol.ts';
export { type CodedNumbers, codedBlock, codedNumbers } from './runtime/stores/coded-numbers.ts';
export { packedBytes } from './runtime/stores/packed-bytes.ts';
export type { WebEngineOptions } from './runtime/web/open-web-engine.ts';

/**
 * Starts an engine in a page, or better in a worker of it, because it computes in the thread that calls it. Its note for users goes to
 * the console.
 *
 * @example
 * const engine = await createEngine({ assets: '/onnx/' });
 *
 * @throws OptionsError for unknown or invalid options.
 * @throws MissingPeerError if onnxruntime-web is not installed.
 * @throws EngineError if its files cannot be loaded, with their names.
 */
export function createEngine(options: WebEngineOptions = {}): Promise<Engine> {
  return openWebEngine(options);
}
