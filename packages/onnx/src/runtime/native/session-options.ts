import type { InferenceSession } from 'onnxruntime-common';

import type { NativeSessionOptions } from './native.ts';

/**
 * Converts options to those of ONNX Runtime.
 *
 * - No memory pattern: equal speed and 40 % less memory.
 * - No parallel execution: it takes twice as long.
 * - No warnings: they go to standard error and concern graph optimisers.
 */
export function sessionOptions(options: NativeSessionOptions): InferenceSession.SessionOptions {
  const { executionProvider, threads, deviceOutputs = [], profileFilePrefix } = options;
  const locations = Object.fromEntries(deviceOutputs.map((name) => [name, 'gpu-buffer' as const]));
  return {
    executionProviders: [executionProvider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    enableMemPattern: false,
    enableCpuMemArena: true,
    graphOptimizationLevel: options.graphOptimization === 'none' ? 'disabled' : 'all',
    logSeverityLevel: 3,
    ...(executionProvider === 'webgpu' && deviceOutputs.length > 0
      ? { preferredOutputLocation: locations }
      : {}),
    ...(profileFilePrefix === undefined ? {} : { enableProfiling: true, profileFilePrefix }),
    extra: { session: configEntries(options) },
  };
}

/** Settings that ONNX Runtime takes as text, by their dotted names. */
function configEntries({ externalDataFolder, spinMicroseconds }: NativeSessionOptions) {
  return {
    ...(externalDataFolder === undefined
      ? {}
      : { model_external_initializers_file_folder_path: externalDataFolder }),
    ...(spinMicroseconds === undefined ? {} : { intra_op: spinning(spinMicroseconds) }),
  };
}

function spinning(microseconds: number): Readonly<Record<string, string>> {
  return microseconds === 0 ? { allow_spinning: '0' } : { spin_duration_us: String(microseconds) };
}
