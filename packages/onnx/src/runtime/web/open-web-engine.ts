import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { openInline } from '../caller/open-inline.ts';
import { timeoutsSchema } from '../options.ts';
import type { Platform } from '../platform.ts';
import type { Engine } from '../protocol.ts';
import { loadWeb } from './load-web.ts';

const schema = z.strictObject({
  /**
   * URL of the folder with `ort-wasm-simd-threaded.mjs` and `ort-wasm-simd-threaded.wasm` of `onnxruntime-web/dist`, ending with "/".
   * Default: the folder of the module or bundle that ONNX Runtime is in.
   */
  assets: z.string().regex(/\/$/, 'must end with "/"').optional(),
  /**
   * `'cpu'` computes in WebAssembly, `'webgpu'` on the graphics card, where weights and caches stay. It needs the files
   * `ort-wasm-simd-threaded.asyncify.mjs` and `.wasm` in their place. Default `'cpu'`.
   */
  executionProvider: z.enum(['cpu', 'webgpu']).default('cpu'),
  /** Threads of one operator. Default: one per core in a page that is cross-origin isolated, up to 4. Other pages have one. */
  threads: z.int().min(1).max(64).optional(),
  /** Limits in milliseconds. Exceeding one is a `TimeoutError`. `Infinity` means no limit. */
  timeouts: timeoutsSchema.prefault({}),
});

/** Options of `createEngine` of `@rlp/onnx/web`. */
export interface WebEngineOptions extends z.input<typeof schema> {}

/** What is read of a page or a worker. TypeScript declares it only together with the whole DOM. */
interface Scope {
  readonly crossOriginIsolated?: boolean;
  readonly navigator?: { readonly hardwareConcurrency?: number };
}

/** Threads that this page may have, and a sentence if that is fewer than the machine has. */
function threadsOf(
  asked: number | undefined,
  { crossOriginIsolated, navigator }: Scope,
): { readonly threads: number; readonly note: string | undefined } {
  const wanted = asked ?? Math.min(4, navigator?.hardwareConcurrency ?? 1);
  if (crossOriginIsolated === true || wanted === 1) return { threads: wanted, note: undefined };
  return {
    threads: 1,
    note:
      'This page is not cross-origin isolated, so one thread computes. Serve it with the headers ' +
      '"Cross-Origin-Opener-Policy: same-origin" and "Cross-Origin-Embedder-Policy: require-corp" for more.',
  };
}

const platformOf = (runtime: Parameters<typeof loadWeb>[0]): Platform => ({
  loadRuntime: (provider) => loadWeb(runtime, provider),
  providerAdvice: (provider) =>
    provider === 'webgpu' ? 'use a browser with WebGPU that gives this page an adapter' : undefined,
  importModule: (url) => import(/* @vite-ignore */ url.href),
});

/** Starts an engine in this thread of a page; see `createEngine` of `@rlp/onnx/web`. */
export async function openWebEngine(options: WebEngineOptions): Promise<Engine> {
  const {
    assets,
    executionProvider,
    timeouts,
    threads: asked,
  } = parseOptions('createEngine', schema, options);
  const { threads, note } = threadsOf(asked, globalThis as Scope);
  return openInline(
    { thread: 'inline', executionProvider, profiling: 'off', threads, timeouts },
    {
      platform: platformOf({ assets, threads, note }),
      onNote: (said) => {
        if (said !== undefined) console.warn(said);
      },
    },
  );
}
