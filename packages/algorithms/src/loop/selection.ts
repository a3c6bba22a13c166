import { RandomStream, type TokenScores } from '@rlp/core';
import { clipCovarianceKeep, highEntropyKeep, klCovarianceSelection } from '../loss/covariance.ts';
import type { TokenRows } from '../statistics/token-rows.ts';
import type { ResolvedRlOptions } from './options.ts';

type Selection = ResolvedRlOptions['tokenSelection'];

/** The tokens of one update. Shape of each `[B][T]`. */
export interface SelectionInputs {
  /** Of the policy about to be updated. */
  readonly scores: readonly TokenScores[];
  readonly proximalLogprobs: TokenRows;
  readonly advantages: TokenRows;
  readonly masks: TokenRows;
}

/** The options of `policyLoss` that a selection sets. */
export function selectionLossOptions({ method }: Selection): {
  readonly keep: 'all' | 'column';
  readonly proximalKlTokens: 'all' | 'column';
} {
  return {
    keep: method === 'high-entropy' || method === 'clip-covariance' ? 'column' : 'all',
    proximalKlTokens: method === 'kl-covariance' ? 'column' : 'all',
  };
}

/** The column that a selection fills, chosen over all tokens of an update. */
export function selectedTokens(
  { scores, ...inputs }: SelectionInputs,
  { tokenSelection, loss, seed }: Pick<ResolvedRlOptions, 'tokenSelection' | 'loss' | 'seed'>,
  at: { readonly iteration: number; readonly update: number },
): { readonly name: 'keep' | 'selected'; readonly rows: TokenRows } | undefined {
  const logprobs = scores.map((score) => score.logprobs);
  switch (tokenSelection.method) {
    case 'none':
      return undefined;
    case 'high-entropy': {
      const entropies = scores.map((score) => score.entropies);
      return { name: 'keep', rows: highEntropyKeep({ ...inputs, entropies }, tokenSelection) };
    }
    case 'clip-covariance': {
      const { method, ...options } = tokenSelection;
      const { clipLow, clipHigh } = loss;
      const random = RandomStream.named(seed, method, at.iteration, at.update);
      const bounds = { clipLow, clipHigh };
      return {
        name: 'keep',
        rows: clipCovarianceKeep({ ...inputs, logprobs }, random, { ...options, ...bounds }),
      };
    }
    case 'kl-covariance': {
      const { share } = tokenSelection;
      return { name: 'selected', rows: klCovarianceSelection({ ...inputs, logprobs }, { share }) };
    }
  }
}
