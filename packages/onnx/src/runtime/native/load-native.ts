import { EngineError } from '@rlp/core';
import type { NativeRuntime } from './native.ts';
import { openBinding } from './native-binding.ts';
import { openPublic } from './native-public.ts';

/**
 * Loads ONNX Runtime into this thread.
 *
 * Prefers in-place outputs where this exact release of onnxruntime-node behaves as expected (see `native-binding.ts`); the
 * environment variable `RLP_ONNX_PUBLIC_API=1` keeps to the public interface.
 *
 * @throws EngineError when onnxruntime-node cannot be loaded, with what to do.
 */
export function loadNative(): Promise<NativeRuntime> {
  const access = process.env.RLP_ONNX_PUBLIC_API === '1' ? 'public' : 'binding';
  const runtime = loaded.get(access) ?? load(access);
  loaded.set(access, runtime);
  return runtime;
}

/** Once per thread: the binding knows one tensor class only, so engines in one thread share it. */
const loaded = new Map<NativeRuntime['access'], Promise<NativeRuntime>>();

async function load(access: NativeRuntime['access']): Promise<NativeRuntime> {
  let module: typeof import('onnxruntime-node');
  try {
    module = await import('onnxruntime-node');
  } catch (cause) {
    const platform = `${process.platform}-${process.arch}`;
    throw new EngineError(
      `onnxruntime-node could not be loaded on ${platform}: install it again, and check that it supports this platform`,
      { cause },
    );
  }
  const publicRuntime = openPublic(module);
  return access === 'public' ? publicRuntime : (openBinding(publicRuntime) ?? publicRuntime);
}
