import type { HostTensor, Weights } from '@rlp/core';
import { fs, nodePath } from '../node-files.ts';
import { writeSafetensors } from '../safetensors/write.ts';
import {
  adapterConfigFile,
  adapterTensorNames,
  adapterWeightsFile,
  type LoraAdapter,
} from './lora-adapter.ts';

/** An adapter that {@link writeLoraAdapter} writes. */
export type SavableAdapter = Omit<LoraAdapter, 'scale'>;

/** Writes an adapter in PEFT's files, `adapter_config.json` and `adapter_model.safetensors`, into a folder without such files. */
export async function writeLoraAdapter(folder: string, adapter: SavableAdapter): Promise<void> {
  const factors = new Map<string, HostTensor>();
  for (const { layer, down, up } of adapter.layers) {
    const names = adapterTensorNames(layer.weight);
    factors.set(names.down, down).set(names.up, up);
  }
  await writeSafetensors(nodePath().join(folder, adapterWeightsFile), factors);
  const text = `${JSON.stringify(adapterConfig(adapter), null, 2)}\n`;
  await fs().writeFile(nodePath().join(folder, adapterConfigFile), text);
}

/** `adapter_config.json` as PEFT reads it. */
function adapterConfig({ layers, rank, alpha, scaling, baseModel }: SavableAdapter) {
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel ?? null,
    r: rank,
    lora_alpha: alpha,
    ...(scaling === 'root-rank' && { use_rslora: true }),
    lora_dropout: 0,
    bias: 'none',
    fan_in_fan_out: layers.some(({ layer }) => layer.order === 'in-out'),
    inference_mode: true,
    target_modules: [...new Set(layers.map(({ layer }) => layer.weight.split('.').at(-2)!))],
  };
}

/** `W + scale · B · A` for every layer that an adapter corrects. */
export function adaptedLayers(base: Weights, { scale, layers }: LoraAdapter): Weights {
  return new Map(
    layers.map(({ layer, down, up }) => {
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
      return [layer.weight, { shape, data: sum }] as const;
    }),
  );
}
