import { type HostTensor, requireArguments, requireFields, type Weights } from '@rlp/core';
import type { ModelConfig } from '../config/model-config.ts';
import type { LinearLayer } from '../decoder/layout.ts';
import { fs, nodePath } from '../node-files.ts';
import { writeSafetensors } from '../safetensors/write.ts';
import {
  adapterConfigFile,
  adapterTensorNames,
  adapterWeightsFile,
  type LoraAdapter,
} from './lora-adapter.ts';
import { moduleSettings, moduleTensorNames } from './saved-modules.ts';

/** An adapter that {@link writeLoraAdapter} writes. */
export type SavableAdapter = Omit<LoraAdapter, 'scale'>;

/**
 * Writes an adapter in PEFT's files, `adapter_config.json` and `adapter_model.safetensors`, into a folder without such files.
 *
 * @param config - Of the model that it corrects.
 */
export async function writeLoraAdapter(
  folder: string,
  adapter: SavableAdapter,
  config: ModelConfig,
): Promise<void> {
  requireArguments(
    'writeLoraAdapter',
    { folder: 'text', adapter: 'object', config: 'object' },
    folder,
    adapter,
    config,
  );
  const factors = new Map<string, HostTensor>();
  for (const { layer, down, up, magnitude } of adapter.layers) {
    const names = adapterTensorNames(layer.weight);
    factors.set(names.down, down).set(names.up, up);
    if (magnitude !== undefined) factors.set(names.magnitude, magnitude);
  }
  for (const [name, parameter] of moduleTensorNames(config, adapter.modules)) {
    factors.set(name, adapter.modules.get(parameter)!);
  }
  await writeSafetensors(nodePath().join(folder, adapterWeightsFile), factors);
  const settings = {
    ...adapterConfig(adapter),
    ...moduleSettings(config, adapter.modulesToSave, adapter.modules),
  };
  const text = `${JSON.stringify(settings, null, 2)}\n`;
  await fs().writeFile(nodePath().join(folder, adapterConfigFile), text);
}

/** `adapter_config.json` as PEFT reads it. */
function adapterConfig({ layers, variant, rank, alpha, scaling, dropout, baseModel }: SavableAdapter) {
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel ?? null,
    r: rank,
    lora_alpha: alpha,
    ...(scaling === 'root-rank' && { use_rslora: true }),
    ...(variant === 'dora' && { use_dora: true }),
    lora_dropout: dropout,
    bias: 'none',
    fan_in_fan_out: layers.some(({ layer }) => layer.order === 'in-out'),
    inference_mode: true,
    target_modules: [...new Set(layers.map(({ layer }) => layer.weight.split('.').at(-2)!))],
  };
}

/**
 * What an adapter changes of a model's weights: `W + scale · B · A` for every layer that it corrects, in the lengths that DoRA has
 * learned, and the modules that were trained in full.
 */
export function adaptedWeights(base: Weights, adapter: LoraAdapter): Weights {
  requireFields('adaptedWeights', { get: 'function' }, base);
  const kinds = { scale: 'number', layers: 'objects', modules: 'object' } as const;
  const { scale, layers, modules } = requireFields('adaptedWeights', kinds, adapter);
  return new Map<string, HostTensor>([
    ...modules,
    ...layers.map(({ layer, down, up, magnitude }) => {
      const { shape, data } = base.get(layer.weight)!;
      const rank = down.shape[0]!;
      const sum = data.slice();
      for (let row = 0; row < layer.outputs; row++) {
        for (let column = 0; column < layer.inputs; column++) {
          let product = 0;
          for (let k = 0; k < rank; k++) {
            product += up.data[row * rank + k]! * down.data[k * layer.inputs + column]!;
          }
          const at = layer.order === 'out-in' ? row * layer.inputs + column : column * layer.outputs + row;
          sum[at]! += scale * product;
        }
      }
      if (magnitude !== undefined) rescale(sum, layer, magnitude.data);
      return [layer.weight, { shape, data: sum }] as const;
    }),
  ]);
}

/** Euclidean norms of a weight's rows, one for each output. Shape: `[outputs]`. */
export function outputNorms(weight: Float32Array, layer: LinearLayer): Float32Array {
  requireArguments('outputNorms', { weight: 'numbers' }, weight);
  const sizes = { inputs: 'number', outputs: 'number' } as const;
  const { order, inputs, outputs } = requireFields('outputNorms', sizes, layer);
  return Float32Array.from({ length: outputs }, (_, row) => {
    let sum = 0;
    for (let column = 0; column < inputs; column++) {
      const value = weight[order === 'out-in' ? row * inputs + column : column * outputs + row]!;
      sum += value * value;
    }
    return Math.sqrt(sum);
  });
}

/** Gives each row of a weight a length. */
function rescale(weight: Float32Array, layer: LinearLayer, lengths: HostTensor['data']): void {
  const norms = outputNorms(weight, layer);
  const { order, inputs, outputs } = layer;
  for (let at = 0; at < weight.length; at++) {
    const row = order === 'out-in' ? Math.floor(at / inputs) : at % outputs;
    weight[at]! *= lengths[row]! / norms[row]!;
  }
}
