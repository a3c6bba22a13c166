import { EngineError, importPeer } from '@rlp/core';
import type { NativeRuntime, NativeSessionOptions } from '../native/native.ts';
import { openModule } from '../native/native-public.ts';
import { sessionOptions } from '../native/session-options.ts';

/** Where the files of onnxruntime-web are, and how many threads compute. */
export interface WebRuntimeOptions {
  readonly assets: string | undefined;
  readonly threads: number;
  readonly note: string | undefined;
}

/**
 * Loads the WebAssembly build of ONNX Runtime into this thread.
 *
 * It has a memory of its own, so feeds and outputs are copied at every run.
 *
 * @throws MissingPeerError if onnxruntime-web is not installed.
 * @throws EngineError if its files cannot be loaded.
 */
export async function loadWeb({ assets, threads, note }: WebRuntimeOptions): Promise<NativeRuntime> {
  const module = await importPeer(
    'createEngine of @rlp/onnx/web',
    'onnxruntime-web',
    () => import('onnxruntime-web/wasm'),
  );
  module.env.wasm.numThreads = threads;
  if (assets !== undefined) module.env.wasm.wasmPaths = assets;
  const runtime = openModule(module, {
    backends: () => [{ name: 'cpu', bundled: true }],
    sessionOptions: wasmOptions,
    given: () => 'copy',
  });
  return {
    ...runtime,
    note,
    async createSession(...asked) {
      const session = await located(assets, () => withinMemory(() => runtime.createSession(...asked)));
      return {
        inputNames: session.inputNames,
        outputNames: session.outputNames,
        run: (...given) => withinMemory(() => session.run(...given)),
        endProfiling: () => session.endProfiling(),
        release: () => session.release(),
      };
    },
  };
}

/** The build calls its processor `wasm`. */
function wasmOptions(options: NativeSessionOptions) {
  return { ...sessionOptions(options), executionProviders: ['wasm'] };
}

/** ONNX Runtime loads its files with the first session. Says where they were looked for. */
async function located<Result>(assets: string | undefined, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    if (!/no available backend|fetch|dynamically imported module|both async and sync/i.test(said))
      throw cause;
    throw new EngineError(
      `onnxruntime-web could not load its files from ${assets ?? 'its own folder'}: serve ort-wasm-simd-threaded.mjs and .wasm of ` +
        `onnxruntime-web/dist, and name their folder in the option \`assets\` (${said})`,
      { cause },
    );
  }
}

/** A model that is too large shows only when ONNX Runtime asks for more. Says so. */
async function withinMemory<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    if (!/bad_alloc|out of memory|allocation failed/i.test(said)) throw cause;
    throw new EngineError(
      `the memory of this tab is full, of which WebAssembly has at most 4 GB: take a smaller model or fewer tokens at once (${said})`,
      { cause },
    );
  }
}
