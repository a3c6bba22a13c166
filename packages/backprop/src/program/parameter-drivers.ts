import type { EngineHost, ParameterStore } from '@rlp/onnx/runtime';
import { kindOf } from '../optimizer/options.ts';
import type { TrainingProgramOptions } from '../program-protocol.ts';
import { DeviceGradient } from './device-gradient.ts';
import { DeviceOptimizer } from './device-optimizer.ts';
import { EightBitOptimizer } from './eight-bit-optimizer.ts';
import type { GradientAccumulator } from './gradient-accumulator.ts';
import { GraphOptimizer } from './graph-optimizer.ts';
import { HostGradient } from './host-gradient.ts';
import { KernelOptimizer } from './kernel-optimizer.ts';
import type { ParameterOptimizer } from './slot-optimizer.ts';

/** Gradient and optimizer of a store: kernels for AdamW in host memory, graphs otherwise. */
export function driversOf(
  host: EngineHost,
  store: ParameterStore,
  options: TrainingProgramOptions,
): { readonly gradient: GradientAccumulator; readonly optimizer: ParameterOptimizer } {
  const onGraphs = () => {
    const { optimizer, parameters, optimizerState: state } = options;
    return new GraphOptimizer(host, { store, parameters, state, optimizer });
  };
  const kind = kindOf(options.optimizer);
  if (store.residency === 'device') {
    const gradient = new DeviceGradient(host, store, options.scratch);
    return { gradient, optimizer: kind === 'adamw' ? new DeviceOptimizer(host, store) : onGraphs() };
  }
  const gradient = new HostGradient(store);
  if (kind === 'adamw-8bit') {
    return { gradient, optimizer: new EightBitOptimizer(store, options.parameters) };
  }
  if (kind !== 'adamw') return { gradient, optimizer: onGraphs() };
  return { gradient, optimizer: new KernelOptimizer(store) };
}
