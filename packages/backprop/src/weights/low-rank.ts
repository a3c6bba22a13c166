import { ArgumentError } from '@rlp/core';
import type { LoraTarget } from './merge-plan.ts';

/**
 * Checks the rank of a correction against its layers. A warning says if some are narrower, which PEFT accepts too: their correction can
 * express every change with fewer numbers.
 *
 * @throws ArgumentError if all layers are narrower.
 */
export function requireLowRank(
  rank: number,
  targets: readonly LoraTarget[],
  warn: (sentence: string) => void = emitWarning,
): void {
  const ranks = targets.map(({ layer }) => Math.min(layer.inputs, layer.outputs));
  const narrow = targets.filter((_, at) => ranks[at]! < rank);
  if (narrow.length === 0) return;
  const { weight, inputs, outputs } = narrow[0]!.layer;
  if (narrow.length < targets.length) {
    warn(
      `lora.rank is ${rank}, but ${narrow.length} of the ${targets.length} layers that it corrects are narrower, such as ${weight} [${outputs}, ${inputs}], where a rank of ${Math.min(inputs, outputs)} does as much with fewer numbers; leave them out of lora.targets, or lower the rank`,
    );
    return;
  }
  const highest = Math.max(...ranks);
  throw new ArgumentError(
    `lora.rank is ${rank}, but the largest layer that it corrects has rank ${highest}; pass at most ${highest}`,
  );
}

function emitWarning(sentence: string): void {
  if (typeof process === 'undefined') return;
  process.emitWarning(sentence, { type: 'RlpWarning', code: 'RLP_LORA_RANK' });
}
