import { rewardModelSchema, runRewardModelTraining } from '@rlp/algorithms/preference';
import type { CriticBackend } from '@rlp/core';
import { pairsOf, type RunPair } from '../data/pairs.ts';
import { pairEvaluation } from '../pair-evaluation.ts';
import type { PreparedRun } from '../prepare.ts';
import { longestPairs } from './largest-update.ts';
import type { Stage } from './stage.ts';
import { updatesOf } from './updates-of.ts';

/** Options of `runRewardModelTraining` among those of the stage. */
function optionsOf({ given, config }: PreparedRun) {
  const { backend: _, ...options } = given.rewardModel ?? {};
  return { seed: config.seed, ...options };
}

/** Learns a value of whole responses that agrees with preferences. */
export const rewardModelStage: Stage<readonly RunPair[]> = {
  label: 'Reward model',
  kind: 'reward-model',
  learningRate: 1e-5,
  saves: 'value-head',
  backend: ({ given }) => ({ reference: 'none', ...given.rewardModel?.backend, valueHead: 'linear' }),
  plan(prepared, model) {
    const { pairs, notes } = pairsOf(prepared.rows.practised, 'rewardModel', prepared, model);
    const options = rewardModelSchema.parse(optionsOf(prepared));
    const iterations = updatesOf(pairs.length, options);
    const largest = () => ({ ...longestPairs(pairs, options), values: 'only' }) as const;
    return { iterations, updates: iterations, notes, largest, data: pairs };
  },
  reports({ prepared, policy: { backend }, resume, clock, signal }, { data: pairs }) {
    const options = { ...optionsOf(prepared), ...(resume && { resume: { iteration: resume.iteration } }) };
    return runRewardModelTraining({ backend: backend as CriticBackend, pairs, clock, signal }, options);
  },
  async measure({ prepared, backend, model }, { limit, ...about }) {
    const rows = prepared.rows.heldOut.slice(0, limit);
    const { pairs } = pairsOf(rows, 'rewardModel', prepared, model);
    if (pairs.length === 0) return undefined;
    const sides = pairs.flatMap(({ chosen, rejected }) => [chosen.tokens, rejected.tokens]);
    const values = await (backend as CriticBackend).values(sides);
    const { seed } = prepared.config;
    return pairEvaluation(
      pairs.map(({ id, chosen }, at) => {
        const rewards = [values[2 * at]!.at(-1)!, values[2 * at + 1]!.at(-1)!] as const;
        return { task: id, rewards, tokens: chosen.tokens.length };
      }),
      { ...about, seed },
    );
  },
};
