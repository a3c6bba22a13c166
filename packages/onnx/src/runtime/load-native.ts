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
export async function loadNative(): Promise<NativeRuntime> {
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
  if (process.env.RLP_ONNX_PUBLIC_API === '1') return publicRuntime;
  return openBinding(publicRuntime) ?? publicRuntime;
}
