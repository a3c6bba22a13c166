import { openEngine } from './runtime/caller/open-engine.ts';
import type { EngineOptions } from './runtime/options.ts';
import { programUrl } from './runtime/program-url.ts';
import type { Engine } from './runtime/protocol.ts';

export { Tensor } from 'onnxruntime-common';
export type { EngineOptions, EngineTimeouts } from './runtime/options.ts';
export { programUrl } from './runtime/program-url.ts';
export type * from './runtime/protocol.ts';
export { type CodedNumbers, codedBlock, codedNumbers } from './runtime/stores/coded-numbers.ts';
export { packedBytes } from './runtime/stores/packed-bytes.ts';

/**
 * Starts an engine: a thread with ONNX Runtime, parameter stores and programs.
 *
 * @example
 * const engine = await createEngine({ threads: 2 });
 * await engine.createStore({ name: 'policy', parameters: [{ name: 'w', shape: [2, 3] }] });
 * await engine.close();
 *
 * @throws OptionsError for unknown or invalid options.
 * @throws MissingPeerError if onnxruntime-node is not installed, with the install command.
 * @throws EngineError if ONNX Runtime or the execution provider does not work here; lists the available
 * providers.
 * @throws TimeoutError if the engine has not started within `timeouts.startMs`.
 */
export function createEngine(options: EngineOptions = {}): Promise<Engine> {
  return openEngine(options, {
    entry: programUrl(import.meta.url, './engine.worker'),
    sourceBootstrap: new URL('./engine.worker-source.mjs', import.meta.url),
  });
}
