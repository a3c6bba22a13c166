import { EngineError, importPeer, MissingPeerError } from '@rlp/core';
import type { NativeRuntime } from './native.ts';
import { knownVersion, openBinding } from './native-binding.ts';
import { openPublic } from './native-public.ts';

/**
 * Loads ONNX Runtime into this thread.
 *
 * Outputs are written in place if this exact release of onnxruntime-node behaves as expected (see
 * `native-binding.ts`). Otherwise the runtime's `note` explains why. `RLP_ONNX_PUBLIC_API=1` selects the
 * public interface.
 *
 * @throws MissingPeerError if onnxruntime-node is not installed.
 * @throws EngineError if onnxruntime-node is installed but does not load.
 */
export function loadNative(): Promise<NativeRuntime> {
  const access = process.env.RLP_ONNX_PUBLIC_API === '1' ? 'public' : 'binding';
  const runtime = loaded.get(access) ?? load(access);
  loaded.set(access, runtime);
  return runtime;
}

/** Loaded once per thread. The binding accepts one tensor class, so engines in one thread share it. */
const loaded = new Map<NativeRuntime['access'], Promise<NativeRuntime>>();

async function load(access: NativeRuntime['access']): Promise<NativeRuntime> {
  const publicRuntime = openPublic(await importRuntime());
  return access === 'public' ? publicRuntime : preferBinding(publicRuntime);
}

type OnnxRuntime = typeof import('onnxruntime-node');

/** Imports onnxruntime-node. Errors are those of {@link loadNative}. */
export async function importRuntime(
  load: () => Promise<OnnxRuntime> = () => import('onnxruntime-node'),
): Promise<OnnxRuntime> {
  try {
    return await importPeer('createEngine of @rlp/onnx/runtime', 'onnxruntime-node', load);
  } catch (cause) {
    if (cause instanceof MissingPeerError) throw process.platform === 'linux' ? withoutCuda(cause) : cause;
    const platform = `${process.platform}-${process.arch}`;
    throw new EngineError(
      `onnxruntime-node could not be loaded on ${platform}: install it again, and check that it supports this platform`,
      { cause },
    );
  }
}

/** The same error, with the command that downloads no CUDA libraries, which rlp does not need. */
function withoutCuda(error: MissingPeerError): MissingPeerError {
  const message = error.message.replace('npm install', 'ONNXRUNTIME_NODE_INSTALL=skip npm install');
  return new MissingPeerError(message, { cause: error.cause });
}

/** Returns the native binding, or the public interface with a note about the cost. */
export function preferBinding(...parameters: Parameters<typeof openBinding>): NativeRuntime {
  const [publicRuntime] = parameters;
  const note =
    `onnxruntime-node is not release ${knownVersion}, or behaves differently here. Outputs are copied once more, ` +
    `which slows training down by up to a quarter. Install onnxruntime-node@${knownVersion}, ` +
    'or set RLP_ONNX_PUBLIC_API=1 to accept this.';
  return openBinding(...parameters) ?? { ...publicRuntime, note };
}
