import { matrixFromRows, matrixRows, Tape } from '@rlp/tensor';
import { samplerCorrections, samplerWeights } from '../loss/sampler-correction.ts';
import { normalizedWeights } from '../statistics/diagnostics.ts';
import type { TokenRows } from '../statistics/token-rows.ts';
import type { Experience } from './experience.ts';
import type { ResolvedRlOptions } from './options.ts';

/** Whether the loop computes the weights of the sampler's correction itself, over all tokens of an iteration. */
export function isNormalized({ loss, correctionNormalization }: ResolvedRlOptions): boolean {
  return loss.correction !== 'none' && correctionNormalization === 'batch';
}

/**
 * Weights of the sampler's correction, divided by their mean over the iteration.
 *
 * The mean is over tokens if the ratio is a token's, else over sequences. `undefined` if the loss computes them. Shape `[N][T]`.
 */
export function correctionWeights(
  { sequences, scores }: Pick<Experience, 'sequences' | 'scores'>,
  options: ResolvedRlOptions,
): TokenRows | undefined {
  const { correction, correctionFloor: low, correctionCap: high } = options.loss;
  if (correction === 'none' || !isNormalized(options) || scores.proximal === undefined) return undefined;
  const tape = new Tape();
  const data = (rows: TokenRows) => tape.data(matrixFromRows(rows));
  const masks = sequences.map(({ mask }) => mask);
  const inputs = {
    proximalLogprobs: data(scores.proximal.map(({ logprobs }) => logprobs)),
    behaviorLogprobs: data(sequences.map(({ behaviorLogprobs }) => behaviorLogprobs)),
    mask: data(masks),
  };
  const kind = samplerCorrections[correction];
  const weights = samplerWeights(tape, inputs, { ...kind, low, high });
  const rows = matrixRows(tape.mul(weights, inputs.mask)).map((row, n) => row.subarray(0, masks[n]!.length));
  return normalizedWeights(rows, masks, { over: kind.level === 'token' ? 'tokens' : 'sequences' });
}
