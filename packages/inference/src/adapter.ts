import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FormatError, type HostTensor, SamplerError, type Weights } from '@rlp/core';
import { type LinearLayer, linearLayers, type ModelConfig, readSafetensors } from '@rlp/models';
import * as z from 'zod';

const configSchema = z.looseObject({ r: z.number().positive(), lora_alpha: z.number().positive() });

/** A low-rank correction of some layers. */
export interface Adapter {
  readonly scale: number;
  readonly layers: readonly {
    readonly layer: LinearLayer;
    /** `A`, `[rank, inputs]`. */
    readonly down: HostTensor;
    /** `B`, `[outputs, rank]`. */
    readonly up: HostTensor;
  }[];
}

/**
 * Reads an adapter in PEFT's files.
 *
 * @throws SamplerError, caused by the error that names file, tensor and remedy.
 */
export async function readAdapter(config: ModelConfig, path: string): Promise<Adapter> {
  try {
    const text = await readFile(join(path, 'adapter_config.json'), 'utf8');
    const { r: rank, lora_alpha: alpha } = configSchema.parse(JSON.parse(text));
    const tensors = await readSafetensors(join(path, 'adapter_model.safetensors'));
    const layers = linearLayers(config).flatMap((layer) => factorsOf(layer, rank, tensors));
    if (2 * layers.length !== tensors.size || layers.length === 0) {
      throw new FormatError(
        `${path}: expected two factors for each of the model's layers, got ${tensors.size} tensors`,
      );
    }
    return { scale: alpha / rank, layers };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SamplerError(`updateWeights: the adapter cannot be taken over: ${reason}`, { cause });
  }
}

function factorsOf(layer: LinearLayer, rank: number, tensors: Weights): Adapter['layers'] {
  const module = `base_model.model.${layer.weight.replace(/\.weight$/, '')}`;
  const [down, up] = ['A', 'B'].map((factor) => tensors.get(`${module}.lora_${factor}.weight`));
  if (down === undefined && up === undefined) return [];
  const fits =
    down?.shape.join() === `${rank},${layer.inputs}` && up?.shape.join() === `${layer.outputs},${rank}`;
  if (!fits) {
    throw new FormatError(
      `${module}: expected lora_A [${rank}, ${layer.inputs}] and lora_B [${layer.outputs}, ${rank}], ` +
        `got ${down?.shape.join(', ') ?? 'none'} and ${up?.shape.join(', ') ?? 'none'}; is it of another model?`,
    );
  }
  return [{ layer, down: down!, up: up! }];
}

/** `W + scale · B · A` for every layer that the adapter corrects. */
export function merged(base: Weights, { scale, layers }: Adapter): Weights {
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
