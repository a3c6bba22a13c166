import { importPeer } from '@rlp/core';
import { runtimeLibrary } from '../cuda-files.ts';
import { importRuntime } from '../load-native.ts';
import type { NativeRuntime } from '../native.ts';
import { openBound } from './open-bound.ts';

/**
 * Loads ONNX Runtime's C interface into this thread, for CUDA.
 *
 * `RLP_ONNX_CUDA=host` computes on the processor in the same way. It tests programs for CUDA on machines without a card.
 *
 * @throws MissingPeerError if onnxruntime-node or koffi is not installed.
 */
export async function loadBound(): Promise<NativeRuntime> {
  await importRuntime();
  const koffi = await importPeer(
    "createEngine of @rlp/onnx/runtime with executionProvider 'cuda'",
    'koffi',
    () => import('koffi'),
  );
  return openBound(koffi, runtimeLibrary(), process.env.RLP_ONNX_CUDA === 'host' ? 'host' : 'cuda');
}
