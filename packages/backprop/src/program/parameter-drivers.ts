import type { EngineHost, ParameterStore } from '@rlp/onnx/runtime';
import type { TrainingProgramOptions } from '../program-protocol.ts';
import { DeviceGradient } from './device-gradient.ts';
import { AccumulatedGradient, type GradientAccumulator } from './gradients.ts';
import { GraphOptimizer } from './graph-optimizer.ts';
import { KernelOptimizer, type ParameterOptimizer } from './kernel-optimizer.ts';

/** Gradient and optimizer of a store: kernels in host memory, graphs on a device. */
export function driversOf(
  host: EngineHost,
  store: ParameterStore,
  options: TrainingProgramOptions,
): { readonly gradient: GradientAccumulator; readonly optimizer: ParameterOptimizer } {
  if (store.residency === 'device') {
    const gradient = new DeviceGradient(host, store);
    return { gradient, optimizer: new GraphOptimizer(host, { store, gradient }) };
  }
  const gradient = new AccumulatedGradient(host, store, options.scratch);
  return { gradient, optimizer: new KernelOptimizer({ store, gradient }) };
}
