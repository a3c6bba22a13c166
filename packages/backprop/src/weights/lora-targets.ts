import { ArgumentError } from '@rlp/core';
import { adapterTensorNames, type LoraAdapter, type LoraSettings, type ModelConfig } from '@rlp/models';
import { type LinearLayer, linearLayers } from '@rlp/models/decoder';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import type { LoraTarget } from './merge-plan.ts';

/**
 * Linear layers that get a correction: those named in `targets`. Default: all linear layers of the decoder.
 *
 * @throws ArgumentError if a target names no linear layer. The message lists the known names.
 */
export function loraTargets(
  config: ModelConfig,
  {
    variant,
    rank,
    targets,
    modules = [],
  }: Pick<LoraSettings, 'variant' | 'rank'> & {
    readonly targets?: readonly string[] | undefined;
    readonly modules?: readonly ParameterSpec[];
  },
): LoraTarget[] {
  const layers = linearLayers(config);
  const known = new Set(layers.map(moduleOf));
  const unknown = (targets ?? []).filter((target) => !known.has(target));
  if (unknown.length > 0) {
    throw new ArgumentError(
      `lora: no linear layer is named ${unknown.map((target) => `"${target}"`).join(', ')}; ` +
        `this model has ${[...known].join(', ')}`,
    );
  }
  const whole = new Set(modules.map(({ name }) => name));
  const chosen = new Set(targets ?? known);
  const twice = targets && layers.find((layer) => chosen.has(moduleOf(layer)) && whole.has(layer.weight));
  if (twice !== undefined) {
    throw new ArgumentError(
      `lora: targets and modulesToSave both name ${twice.weight}; train it by a correction or in full`,
    );
  }
  return layers
    .filter((layer) => chosen.has(moduleOf(layer)) && !whole.has(layer.weight))
    .map((layer) => {
      const { down, up, magnitude } = factorNames(layer.weight);
      return {
        layer,
        down: { name: down, shape: [rank, layer.inputs] },
        up: { name: up, shape: [layer.outputs, rank] },
        ...(variant === 'dora' && { magnitude: { name: magnitude, shape: [layer.outputs] } }),
      };
    });
}

/** @throws ArgumentError if the adapter corrects only some of the layers of a name. */
export function targetsOf(
  { variant, rank, layers }: LoraAdapter,
  config: ModelConfig,
  folder: string,
): LoraTarget[] {
  const targets = loraTargets(config, {
    variant,
    rank,
    targets: [...new Set(layers.map(({ layer }) => moduleOf(layer)))],
  });
  if (targets.length === layers.length) return targets;
  const has = new Set(layers.map(({ layer }) => layer.weight));
  const missing = targets.find(({ layer }) => !has.has(layer.weight))!;
  throw new ArgumentError(
    `lora.adapter: ${folder} has no factors for ${missing.layer.weight}, though it adapts other layers of that name; ` +
      'merge it into its model with PEFT (merge_and_unload) and load the merged model',
  );
}

const peftPrefix = 'base_model.model.';

/** Names of a weight's factors. `….q_proj.weight` has `….q_proj.lora_A.weight`. */
export function factorNames(weight: string): ReturnType<typeof adapterTensorNames> {
  const { down, up, magnitude } = adapterTensorNames(weight);
  const own = (name: string) => name.replace(peftPrefix, '');
  return { down: own(down), up: own(up), magnitude: own(magnitude) };
}

function moduleOf({ weight }: LinearLayer): string {
  return weight.split('.').at(-2)!;
}
