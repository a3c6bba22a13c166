import { FormatError } from '@rlp/core';

import type { ModelConfig } from '../config/model-config.ts';
import { basePrefix, SEPARATE_HEAD } from '../decoder/layout.ts';
import { headParameter, parameterSpecs } from '../decoder/parameters.ts';
import type { StoredTensor } from '../safetensors/header.ts';

/**
 * Finds a model's parameters among a checkpoint's tensors, by canonical name.
 *
 * A checkpoint may omit the base model's prefix, as the published GPT-2 does. It may store a tied matrix as
 * `lm_head.weight` only. Tensors that the model does not use, such as saved attention masks, are ignored, but for weights and
 * biases of layers: without them the model would be another one.
 *
 * @param file - Named in error messages.
 * @throws FormatError listing every parameter that is missing, has another shape or is not in the config.
 */
export function locateParameters(
  config: ModelConfig,
  tensors: ReadonlyMap<string, StoredTensor>,
  file: string,
): ReadonlyMap<string, StoredTensor> {
  const found = new Map<string, StoredTensor>();
  const unknown = new Set([...tensors.keys()].filter((name) => belongsToLayer(name, basePrefix(config))));
  const problems: string[] = [];
  for (const { name, shape } of parameterSpecs(config)) {
    const tensor = candidates(config, name)
      .map((candidate) => tensors.get(candidate))
      .find((candidate) => candidate !== undefined);
    if (tensor) unknown.delete(tensor.name);
    if (!tensor) problems.push(`${name}: missing`);
    else if (tensor.shape.join() !== shape.join()) {
      problems.push(`${tensor.name}: expected shape [${shape}] by the config, got [${tensor.shape}]`);
    } else found.set(name, tensor);
  }
  problems.push(...[...unknown].map((name) => `${name}: not in the config`));
  if (problems.length === 0) return found;
  const shown = problems.slice(0, 8).map((problem) => `  - ${problem}`);
  const more = problems.length > shown.length ? [`  - and ${problems.length - shown.length} more`] : [];
  const remedy = 'check that config.json belongs to these weights';
  throw new FormatError([`${file}: tensors do not fit the config; ${remedy}`, ...shown, ...more].join('\n'));
}

/** Whether a tensor is a weight or bias of a layer. GPT-2 stores its causal mask as `attn.bias`. */
function belongsToLayer(name: string, prefix: string): boolean {
  const short = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  return /^(layers|h)\.\d+\..*\.(weight|bias)$/.test(short) && !/^h\.\d+\.attn\.bias$/.test(short);
}

/** Names a parameter may have in a checkpoint, best first. */
function candidates(config: ModelConfig, name: string): readonly string[] {
  const prefix = basePrefix(config);
  const short = name.startsWith(prefix) ? [name.slice(prefix.length)] : [];
  const tied = config.outputHead === 'tied' && name === headParameter(config) ? [SEPARATE_HEAD] : [];
  return [name, ...short, ...tied];
}
