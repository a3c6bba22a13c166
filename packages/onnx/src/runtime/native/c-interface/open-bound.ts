import { Tensor } from 'onnxruntime-common';
import type { NativeRuntime, NativeSessionOptions } from '../native.ts';
import { BoundSession } from './bound-session.ts';
import { type Koffi, OrtInterface, type Pointer } from './interface.ts';
import { boundMemory } from './memory.ts';
import { type Memories, OrtValues } from './values.ts';

/** Where device tensors are. `'host'` is for tests on machines without a card. */
export type BoundDevice = 'cuda' | 'host';

const levels = { all: 99, none: 0 } as const;
/** Errors are thrown, so only what ends the process is printed. */
const logFatal = 4;
/** OrtDeviceAllocator, device 0, OrtMemTypeDefault. */
const place = [0, 0, 0] as const;

/** Products in float32 have all of its bits, as on the other providers. */
const cudaOptions = {
  device_id: '0',
  use_tf32: '0',
  arena_extend_strategy: 'kSameAsRequested',
  cudnn_conv_algo_search: 'DEFAULT',
};

/** ONNX Runtime through its C interface, with tensors that stay on a device. */
export function openBound(koffi: Koffi, library: string, device: BoundDevice): NativeRuntime {
  const ort = new OrtInterface(koffi, library);
  const environment = ort.make('CreateEnv', logFatal, 'rlp');
  const allocator = ort.make('GetAllocatorWithDefaultOptions');
  const host = ort.make('CreateMemoryInfo', 'Cpu', ...place);
  const memories: Memories = {
    host,
    device: device === 'cuda' ? ort.make('CreateMemoryInfo', 'Cuda', ...place) : host,
  };
  const values = new OrtValues(ort, memories);
  const open = (model: Uint8Array, options: NativeSessionOptions): BoundSession => {
    const sessionOptions = createOptions(ort, options, device);
    try {
      const session = ort.make(
        'CreateSessionFromArray',
        environment,
        model,
        model.byteLength,
        sessionOptions,
      );
      const { deviceOutputs = [] } = options;
      return new BoundSession({ ort, values, memories, allocator, session, deviceOutputs });
    } finally {
      ort.call('ReleaseSessionOptions', sessionOptions);
    }
  };
  return {
    access: 'bound',
    backends: () => [
      { name: 'cpu', bundled: true },
      { name: 'webgpu', bundled: true },
      { name: 'cuda', bundled: false },
    ],
    tensor: (type, data, shape) => new Tensor(type, data, shape),
    createSession: async (model, options) => open(model, options),
    memory: boundMemory(values, open),
  };
}

function createOptions(ort: OrtInterface, options: NativeSessionOptions, device: BoundDevice): Pointer {
  const made = ort.make('CreateSessionOptions');
  ort.call('DisableMemPattern', made);
  ort.call('SetSessionLogSeverityLevel', made, logFatal);
  ort.call('SetIntraOpNumThreads', made, options.threads);
  ort.call('SetSessionGraphOptimizationLevel', made, levels[options.graphOptimization ?? 'all']);
  const { externalDataFolder, profileFilePrefix } = options;
  if (externalDataFolder !== undefined) {
    ort.call(
      'AddSessionConfigEntry',
      made,
      'session.model_external_initializers_file_folder_path',
      externalDataFolder,
    );
  }
  if (profileFilePrefix !== undefined) ort.call('EnableProfiling', made, profileFilePrefix);
  if (device === 'cuda') appendCuda(ort, made);
  return made;
}

function appendCuda(ort: OrtInterface, sessionOptions: Pointer): void {
  const cuda = ort.make('CreateCUDAProviderOptions');
  try {
    const names = Object.keys(cudaOptions);
    ort.call('UpdateCUDAProviderOptions', cuda, names, Object.values(cudaOptions), names.length);
    ort.call('AppendCudaProvider', sessionOptions, cuda);
  } finally {
    ort.call('ReleaseCUDAProviderOptions', cuda);
  }
}
