import { SamplerError, type Weights } from '@rlp/core';
import { checkBaseModel, type LanguageModel, type LoraAdapter, readLoraAdapter } from '@rlp/models';

/**
 * Reads an adapter in PEFT's files.
 *
 * @throws SamplerError, caused by the error that names file, tensor and remedy.
 */
export async function readAdapter(
  { config, folder }: Pick<LanguageModel, 'config' | 'folder'>,
  path: string,
): Promise<LoraAdapter> {
  try {
    const adapter = await readLoraAdapter(path, config);
    await checkBaseModel(adapter.baseModel, folder);
    return adapter;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SamplerError(`updateWeights: the adapter cannot be taken over: ${reason}`, { cause });
  }
}

/** `W + scale · B · A` for every layer that the adapter corrects. */
export function merged(base: Weights, { scale, layers }: LoraAdapter): Weights {
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
