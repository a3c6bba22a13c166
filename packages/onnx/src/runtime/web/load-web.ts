import { EngineError, messageOf, missingPeer } from '@rlp/core';
import type { NativeRuntime, NativeSessionOptions } from '../native/native.ts';
import { openModule } from '../native/native-public.ts';
import { sessionOptions } from '../native/session-options.ts';
import type { Tensors } from '../protocol.ts';
import type { ExecutionProvider } from '../providers.ts';

/** Where the files of onnxruntime-web are, and how many threads compute. */
export interface WebRuntimeOptions {
  readonly assets: string | undefined;
  readonly threads: number;
  readonly note: string | undefined;
}

/**
 * Loads the WebAssembly build of ONNX Runtime into this thread.
 *
 * It has its own memory, so feeds and outputs are copied at every run.
 *
 * @throws MissingPeerError if onnxruntime-web is not installed.
 * @throws EngineError if its files cannot be loaded.
 */
export async function loadWeb(
  { assets, threads, note }: WebRuntimeOptions,
  provider: ExecutionProvider,
): Promise<NativeRuntime> {
  const module = await importBuild(provider);
  module.env.wasm.numThreads = threads;
  if (assets !== undefined) module.env.wasm.wasmPaths = assets;
  const runtime = openModule(module, {
    backends: () => [
      { name: 'cpu', bundled: true },
      { name: 'webgpu', bundled: true },
    ],
    sessionOptions: webOptions,
    given: () => 'copy',
  });
  const call = <Result>(work: () => Promise<Result>) =>
    inTurn(() => onDevice(module.env.webgpu, () => withinMemory(work)));
  return {
    ...runtime,
    note,
    async createSession(...asked) {
      const create = () => call(() => runtime.createSession(...asked));
      const session = await located({ assets, provider }, create);
      return {
        inputNames: session.inputNames,
        outputNames: session.outputNames,
        run: async (feeds, ...given) => {
          if (provider === 'cpu') requireRoom(feeds);
          return call(() => session.run(feeds, ...given));
        },
        endProfiling: () => session.endProfiling(),
        release: () => inTurn(() => session.release().catch(unlessBroken)),
      };
    },
  };
}

let last: Promise<unknown> = Promise.resolve();

/** Begins a call once those before it have ended. The build for WebGPU would wait forever for a call that awaits the card. */
function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const result = last.then(work);
  last = result.catch(() => undefined);
  return result;
}

/** The build for WebGPU is larger. */
async function importBuild(provider: ExecutionProvider): Promise<typeof import('onnxruntime-web')> {
  try {
    return provider === 'webgpu'
      ? await import('onnxruntime-web/webgpu')
      : await import('onnxruntime-web/wasm');
  } catch (cause) {
    throw missingPeer('createEngine of @rlp/onnx/web', 'onnxruntime-web', cause);
  }
}

/** The builds call their processor `wasm`. */
function webOptions(options: NativeSessionOptions) {
  const { executionProvider } = options;
  return {
    ...sessionOptions(options),
    executionProviders: [executionProvider === 'cpu' ? 'wasm' : executionProvider],
  };
}

/** ONNX Runtime loads its files with the first session. Says where they were looked for. */
async function located<Result>(
  { assets, provider }: { readonly assets: string | undefined; readonly provider: ExecutionProvider },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const said = messageOf(cause);
    const isOther = cause instanceof EngineError || /gpu adapter|webgpu is not supported/i.test(said);
    if (isOther || !/no available backend|fetch|dynamically imported module|both async and sync/i.test(said))
      throw cause;
    const name = provider === 'webgpu' ? 'ort-wasm-simd-threaded.asyncify' : 'ort-wasm-simd-threaded';
    throw new EngineError(
      `onnxruntime-web could not load its files from ${assets ?? 'its own folder'}: serve ${name}.mjs and .wasm of ` +
        `onnxruntime-web/dist, and name their folder in the option \`assets\` (${said})`,
      { cause },
    );
  }
}

/** What is read of the graphics card that ONNX Runtime computes on. */
interface Card {
  readonly device?: { readonly lost?: Promise<{ readonly message: string }> } | undefined;
}

/** Calls fail in many ways once the graphics card is lost. Says so. */
async function onDevice<Result>(card: unknown, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const { device } = (card ?? {}) as Card;
    const lost = await Promise.race([device?.lost, new Promise<void>((resolve) => setTimeout(resolve))]);
    if (!lost) throw cause;
    throw new EngineError(
      `the page lost the graphics card, with the weights on it (${lost.message}); close this engine, create another one and go on from weights that you kept`,
      { cause },
    );
  }
}

/** Bytes that are left of the 4 GiB of WebAssembly for compiled graphs and what they compute. */
const besideFeeds = 2 ** 29;

/** Refuses inputs that do not fit. ONNX Runtime would overwrite its own memory with them. The weights are among them. */
function requireRoom(feeds: Tensors): void {
  const bytes = Object.values(feeds).reduce((sum, { data }) => sum + (data as Float32Array).byteLength, 0);
  if (bytes <= 2 ** 32 - besideFeeds) return;
  throw tabIsFull(`the weights and other inputs of one step take ${(bytes / 2 ** 30).toFixed(1)} GiB`);
}

function tabIsFull(why: string, where = '', cause?: unknown): EngineError {
  return new EngineError(
    `the memory of this tab is full, of which WebAssembly has at most 4 GB: take a smaller model or fewer tokens at once${where} (${why})`,
    { cause },
  );
}

const elsewhere = ', in a new worker or page, because WebAssembly gives no memory back';

/** Whether WebAssembly itself failed, so that nothing of it can be used or freed. */
const isBroken = (cause: unknown): boolean => cause instanceof Error && cause.name === 'RuntimeError';

/** An error of closing would hide what broke it. */
function unlessBroken(cause: unknown): void {
  if (!isBroken(cause)) throw cause;
}

/** A model that is too large shows only when ONNX Runtime asks for more. Says so. */
async function withinMemory<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const said = messageOf(cause);
    if (/bad_alloc|out of memory|allocation failed|(failed|could not) (to )?allocate/i.test(said))
      throw tabIsFull(said, elsewhere, cause);
    if (!isBroken(cause)) throw cause;
    throw new EngineError(
      `ONNX Runtime broke down in WebAssembly, perhaps because the memory of this tab is full (${said}); start again in a new worker or page, with a smaller model or fewer tokens at once`,
      { cause },
    );
  }
}
