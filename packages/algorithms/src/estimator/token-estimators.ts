import {
  entropyWeightedAdvantages,
  planningAmplifiedAdvantages,
  planningTokens,
} from '../advantage/token-weighting.ts';
import { tokenEstimator } from '../loop/estimate.ts';
import type { AdvantageEstimator, TokenEstimator } from '../loop/protocol.ts';
import {
  type EntropyShapingOptions,
  entropyShapedRewards,
  separatelyWhitened,
} from '../loss/entropy-shaped-rewards.ts';
import type { TokenRows } from '../statistics/token-rows.ts';

/** The numbers of a row whose tokens count. */
function trained(row: ArrayLike<number>, mask: ArrayLike<number>): Float64Array {
  return Float64Array.from(row).filter((_, t) => mask[t] !== 0);
}

/** The way back from {@link trained}: 0 where the mask is. */
function spread(values: ArrayLike<number>, mask: ArrayLike<number>): Float64Array {
  let at = 0;
  return Float64Array.from(mask, (counts) => (counts === 0 ? 0 : values[at++]!));
}

/** Another estimator's advantages, moved to where the policy hesitated. See `entropyWeightedAdvantages`. */
export function entropyWeightedEstimator(
  of: AdvantageEstimator,
  { strength }: { readonly strength: number },
): TokenEstimator {
  entropyWeightedAdvantages(1, [], { strength }); // checks the options
  return reweighted(of, ['entropies'], (advantages, { masks, entropies }) =>
    advantages.map((row, b) => {
      const factors = entropyWeightedAdvantages(1, trained(entropies![b]!, masks[b]!), { strength });
      return spread(factors, masks[b]!).map((factor, t) => factor * row[t]!);
    }),
  );
}

/** What {@link planningAmplifiedEstimator} looks for. */
export interface PlanningOptions {
  /** α of `planningAmplifiedAdvantages`. */
  readonly amplification: number;
  /** Such as "let me check". */
  readonly phrases: readonly string[];
  /** Text of a token, `(token) => tokenizer.decode([token])`. */
  readonly textOf: (token: number) => string;
}

/** Another estimator's advantages, amplified on tokens of planning phrases. See `planningAmplifiedAdvantages`. */
export function planningAmplifiedEstimator(
  of: AdvantageEstimator,
  { amplification, phrases, textOf }: PlanningOptions,
): TokenEstimator {
  planningAmplifiedAdvantages([], [], { amplification }); // checks the options
  return reweighted(of, [], (advantages, { tokens, masks }) =>
    advantages.map((row, b) => {
      const texts = Array.from(trained(tokens[b]!, masks[b]!), textOf);
      const planning = spread(planningTokens(texts, phrases), masks[b]!);
      return planningAmplifiedAdvantages(row, planning, { amplification });
    }),
  );
}

function reweighted(
  of: AdvantageEstimator,
  needs: NonNullable<TokenEstimator['needs']>,
  weigh: (advantages: TokenRows, batch: Parameters<TokenEstimator['estimate']>[0]) => TokenRows,
): TokenEstimator {
  const inner = tokenEstimator(of);
  return {
    needs: [...(inner.needs ?? []), ...needs],
    estimate: (batch) => {
      const estimate = inner.estimate(batch);
      return { ...estimate, advantages: weigh(estimate.advantages, batch) };
    },
  };
}

/**
 * GTPO: token rewards shaped by the policy's entropies within each group, whitened separately for successes and failures;
 * see `entropyShapedRewards` and `separatelyWhitened`.
 *
 * @throws OptionsError for options outside their ranges.
 */
export function entropyShapedEstimator(options: EntropyShapingOptions = {}): TokenEstimator {
  const { successAbove = 0.5, epsilon = 1e-8 } = options;
  entropyShapedRewards({ rewards: [], entropies: [] }, options); // checks the options
  return {
    needs: ['entropies'],
    estimate: ({ groups, owners, masks, entropies }) => {
      const advantages: TokenRows[number][] = masks.map((mask) => new Float64Array(mask.length));
      for (const [group] of groups.entries()) {
        const rows = [...owners.keys()].filter((b) => owners[b]!.group === group);
        const inputs = {
          rewards: rows.map((b) => owners[b]!.scored.reward!),
          entropies: rows.map((b) => trained(entropies![b]!, masks[b]!)),
        };
        const kinds = inputs.rewards.map((reward) => reward > successAbove);
        const shaped = separatelyWhitened(entropyShapedRewards(inputs, options), kinds, { epsilon });
        for (const [index, b] of rows.entries()) advantages[b] = spread(shaped[index]!, masks[b]!);
      }
      return { advantages };
    },
  };
}
