import type { Loss, TrainingSequence } from '@rlp/core';
import { ApiError } from '../api-error.ts';
import { type Datum, tokensOf } from './wire.ts';

/** Loss columns by Tinker's names. */
const inputs: Readonly<Record<string, string>> = {
  behaviorLogprobs: 'logprobs',
  advantages: 'advantages',
};

/**
 * The sequence of a datum. Its inputs belong to the tokens that they predict, which are one place to the right.
 *
 * @throws ApiError for inputs that are missing or of another length, and for targets that do not continue the text.
 */
export function sequenceOf(datum: Datum, index: number, loss: Loss): TrainingSequence {
  const given = tokensOf(datum.model_input);
  const targets = inputOf(datum, 'target_tokens', { index, length: given.length });
  const off = targets.findIndex((target, t) => t + 1 < given.length && target !== given[t + 1]);
  if (off >= 0) {
    throw new ApiError(
      400,
      `data[${index}]: target_tokens[${off}] is ${targets[off]}, but the text goes on with ${given[off + 1]}; this server scores the text's own tokens`,
    );
  }
  const shifted = (name: string) => [0, ...inputOf(datum, name, { index, length: given.length })];
  const tokens = given.length === 0 ? targets : [...given, targets.at(-1)!];
  const { weights } = datum.loss_fn_inputs;
  return {
    tokens,
    mask: tokens.map((_, t) => (t === 0 ? 0 : 1)),
    weights: weights === undefined ? tokens.map((_, t) => (t === 0 ? 0 : 1)) : shifted('weights'),
    columns: Object.fromEntries(loss.columns.map((column) => [column, shifted(inputs[column]!)])),
  };
}

function inputOf(
  { loss_fn_inputs }: Datum,
  name: string,
  { index, length }: { readonly index: number; readonly length: number },
): readonly number[] {
  const data = Object.hasOwn(loss_fn_inputs, name) ? loss_fn_inputs[name]!.data : undefined;
  if (data !== undefined && data.length === length && length > 0) return data;
  const got = data === undefined ? 'none' : `${data.length}`;
  throw new ApiError(
    400,
    `data[${index}].loss_fn_inputs.${name}: expected ${Math.max(1, length)} numbers, one for each token of model_input, got ${got}`,
  );
}
