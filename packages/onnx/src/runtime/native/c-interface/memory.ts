import { Tensor } from 'onnxruntime-common';
import { elementCount } from '../../../graph/shape.ts';
import { identityModel } from '../identity-model.ts';
import type { DeviceMemory, NativeSessionOptions } from '../native.ts';
import { type BoundSession, deviceBuffer } from './bound-session.ts';
import type { OrtValues } from './values.ts';

const options: NativeSessionOptions = { executionProvider: 'cuda', threads: 1 };

/** Memory of the device of bound sessions. One session that returns its input moves all tensors. */
export function boundMemory(
  values: OrtValues,
  open: (model: Uint8Array, options: NativeSessionOptions) => BoundSession,
): DeviceMemory {
  let known: BoundSession | undefined;
  const move = (x: Tensor, y?: Tensor): Tensor => {
    known ??= open(identityModel(), { ...options, deviceOutputs: ['y'] });
    try {
      return known.runNow({ x }, ['y'], y ? { y } : {}).y!;
    } finally {
      known.forget();
    }
  };
  return {
    zeros(length) {
      return move(new Tensor('float32', new Float32Array(length), [length]));
    },
    window(tensor, first, shape) {
      return values.deviceTensor(
        values.overDevice(deviceBuffer(tensor).addressOf(first), tensor.type, shape),
      );
    },
    copy(source, target) {
      const flat = (tensor: Tensor) => [elementCount(tensor.dims)];
      const x =
        source.location === 'gpu-buffer'
          ? Tensor.fromGpuBuffer(source.gpuBuffer, { dataType: 'float32', dims: flat(source) })
          : new Tensor('float32', source.data as Float32Array, flat(source));
      move(x, Tensor.fromGpuBuffer(target.gpuBuffer, { dataType: 'float32', dims: flat(target) }));
    },
    async release() {
      await known?.release();
      known = undefined;
    },
  };
}
