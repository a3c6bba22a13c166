import * as ort from 'onnxruntime-common';
import { describe, expect, it, vi } from 'vitest';
import type { Tensors } from './runtime.ts';
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

  /** A session of a stand-in for a build of ONNX Runtime. */
  async function open(provider: 'cpu' | 'webgpu', create: () => Promise<unknown>, device = {}) {
    vi.doMock(provider === 'cpu' ? 'onnxruntime-web/wasm' : 'onnxruntime-web/webgpu', () => ({
      Tensor: ort.Tensor,
      env: { wasm: {}, webgpu: { device } },
      InferenceSession: { create },
    }));
    const { loadWeb } = await import('./runtime/web/load-web.ts');
    const runtime = await loadWeb({ assets: undefined, threads: 1, note: undefined }, provider);
    const options = { executionProvider: provider, threads: 1 } as never;
    return runtime.createSession(new Uint8Array(), options);
  }

  /** A session of a build of ONNX Runtime that fails. */
  async function sessionOf(
    provider: 'cpu' | 'webgpu',
    step: 'create' | 'run' | 'release',
    cause: Error,
    feeds: Tensors = {},
  ) {
    const fail = () => Promise.reject(cause);
    const session = { inputNames: [], outputNames: [], run: fail, release: fail };
    const { run, release } = await open(provider, step === 'create' ? fail : async () => session);
    return step === 'release' ? release() : run(feeds, [], {});
  }

  const full = /^the memory of this tab is full.*take a smaller model/;

  it.each([
    ['create', 'failed to call OrtRun(). ERROR_CODE: 6, ERROR_MESSAGE: std::bad_alloc'],
    ['run', 'failed to call OrtRun(). ERROR_CODE: 6, ERROR_MESSAGE: std::bad_alloc'],
    ['create', "Can't create a session. failed to allocate a buffer of size 9."],
    ['create', 'no available backend found. ERR: [wasm] RangeError: Out of memory'],
    ['create', 'ERR: [wasm] RangeError: WebAssembly.Memory(): could not allocate memory'],
  ] as const)('says that the tab is full when ONNX Runtime cannot %s a session: %s', async (step, said) => {
    const made = sessionOf('cpu', step, new Error(said));
    await expect(made).rejects.toThrow(full);
    await expect(made).rejects.toThrow(said);
  });

  it('begins a run once the one before it has ended, because WebGPU would wait forever', async () => {
    const order: string[] = [];
    const run = async () => {
      order.push('begins');
      await new Promise((resolve) => setImmediate(resolve));
      order.push('ends');
      return {};
    };
    const session = await open('webgpu', async () => ({ inputNames: [], outputNames: [], run }));
    await Promise.all([session.run({}, [], {}), session.run({}, [], {})]);
    expect(order).toEqual(['begins', 'ends', 'begins', 'ends']);
  });

  it.each([
    [
      { lost: Promise.resolve({ message: 'it fell out' }) },
      /^the page lost the graphics card.*\(it fell out\)/,
    ],
    [{ lost: new Promise(() => {}) }, /^Cannot read properties of undefined$/],
  ])('says that the graphics card was lost, if that is why a call fails: %o', async (device, said) => {
    const run = () => Promise.reject(new TypeError('Cannot read properties of undefined'));
    const session = await open('webgpu', async () => ({ inputNames: [], outputNames: [], run }), device);
    await expect(session.run({}, [], {})).rejects.toThrow(said);
  });

  it('refuses inputs that WebAssembly has no room for before it copies them', async () => {
    const huge = { location: 'cpu', data: { byteLength: 3.6 * 2 ** 30 } } as unknown as ort.Tensor;
    const made = sessionOf('cpu', 'run', new Error('function signature mismatch'), { weight: huge });
    await expect(made).rejects.toThrow(full);
    await expect(made).rejects.toThrow('the weights and other inputs of one step take 3.6 GiB');
  });

  it('asks for a new worker once ONNX Runtime has broken down', async () => {
    const cause = Object.assign(new Error('function signature mismatch'), { name: 'RuntimeError' });
    await expect(sessionOf('cpu', 'run', cause)).rejects.toThrow(
      /^ONNX Runtime broke down in WebAssembly.*\(function signature mismatch\); start again in a new worker/,
    );
    // Otherwise the error of closing what broke would replace this one.
    await expect(sessionOf('cpu', 'release', cause)).resolves.toBeUndefined();
    await expect(sessionOf('cpu', 'release', new Error('invalid session'))).rejects.toThrow(
      'invalid session',
    );
  });

  it('blames files that are missing, and not those that have no adapter', async () => {
    const said = (what: string) => new Error(`no available backend found. ERR: [webgpu] Error: ${what}`);
    await expect(sessionOf('webgpu', 'create', said('Failed to fetch'))).rejects.toThrow(
      'onnxruntime-web could not load its files',
    );
    for (const what of ['Failed to get GPU adapter.', 'WebGPU is not supported in current environment']) {
      await expect(sessionOf('webgpu', 'create', said(what))).rejects.toThrow(/^no available backend found/);
    }
  });
});
