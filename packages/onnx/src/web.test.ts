import * as ort from 'onnxruntime-common';
import { describe, expect, it, vi } from 'vitest';
import * as runtime from './runtime.ts';
import * as web from './web.ts';

describe('the entry for pages', () => {
  it('has what the entry for Node has, because bundlers take it in its place', () => {
    expect(Object.keys(web).sort()).toEqual(Object.keys(runtime).sort());
  });

  it('names every problem of its options', async () => {
    const wrong = web.createEngine({ assets: '/onnx', treads: 2 } as never);
    await expect(wrong).rejects.toThrow(
      /createEngine: [\s\S]*assets: must end with "\/"[\s\S]*treads.*threads/,
    );
  });

  it.each(['create', 'run'] as const)(
    'says that the tab is full when ONNX Runtime cannot %s a session',
    async (step) => {
      const full = () =>
        Promise.reject(new Error('failed to call OrtRun(). ERROR_CODE: 6, ERROR_MESSAGE: std::bad_alloc'));
      const session = { inputNames: [], outputNames: [], run: full };
      const create = step === 'create' ? full : async () => session;
      vi.doMock('onnxruntime-web/wasm', () => ({
        Tensor: ort.Tensor,
        env: { wasm: {} },
        InferenceSession: { create },
      }));
      const { loadWeb } = await import('./runtime/web/load-web.ts');
      const runtime = await loadWeb({ assets: undefined, threads: 1, note: undefined }, 'cpu');
      const options = { executionProvider: 'cpu', threads: 1 } as never;
      const made = runtime.createSession(new Uint8Array(), options).then(({ run }) => run({}, [], {}));
      await expect(made).rejects.toThrow(
        /^the memory of this tab is full.*take a smaller model.*std::bad_alloc/,
      );
    },
  );
});
