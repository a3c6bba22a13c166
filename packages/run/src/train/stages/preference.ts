import { pairRewards, resolvePreferenceOptions, runPreferenceTraining } from '@rlp/algorithms/preference';
import { pairLength, pairsOf } from '../data/pairs.ts';
import { pairEvaluation } from '../pair-evaluation.ts';
import type { PreparedRun } from '../prepare.ts';
import type { Stage } from './stage.ts';
import { updatesOf } from './updates-of.ts';

/** Options of `runPreferenceTraining` among those of the stage. */
function optionsOf({ given, config }: PreparedRun) {
  const { backend: _, ...options } = given.preference ?? {};
  return { seed: config.seed, ...options };
}

/** Learns to prefer what people preferred. */
export const preferenceStage: Stage = {
  label: 'Preferences',
  kind: 'preference',
  learningRate: 1e-6,
  backend: ({ given }) => given.preference?.backend,
  plan(prepared, model) {
    const { pairs, notes } = pairsOf(prepared.rows.practised, 'preference', prepared, model);
    const options = resolvePreferenceOptions(optionsOf(prepared));
    // Losses over single sequences take pairs apart.
    const isSingle = options.loss.some(({ kind }) => kind === 'kto' || kind === 'apo-zero-unpaired');
    const iterations = updatesOf(isSingle ? 2 * pairs.length : pairs.length, options);
    const length = pairs.reduce((longest, pair) => Math.max(longest, pairLength(pair)), 1);
    return { iterations, updates: iterations, notes, batch: { rows: 2 * options.pairsPerBatch, length } };
  },
  reports({ prepared, policy: { backend }, model, resume, clock, signal }) {
    const { pairs } = pairsOf(prepared.rows.practised, 'preference', prepared, model);
    const options = { ...optionsOf(prepared), ...(resume && { resume: { iteration: resume.iteration } }) };
    return runPreferenceTraining({ backend, pairs, clock, signal }, options);
  },
  measuresPairs: ({ config: { evaluation } }) => evaluation !== 'none' && evaluation.data === undefined,
  async measure({ prepared, backend, model }, { name, limit }) {
    const { pairs } = pairsOf(prepared.rows.heldOut.slice(0, limit), 'preference', prepared, model);
    const { chosen, rejected } = await pairRewards(backend, pairs, optionsOf(prepared));
    // Before the first update a policy is its own reference.
    if (chosen.every((reward) => reward === 0) && rejected.every((reward) => reward === 0)) return undefined;
    const judged = pairs.map(({ id, chosen: { tokens } }, at) => {
      return { task: id, rewards: [chosen[at]!, rejected[at]!] as const, tokens: tokens.length };
    });
    return pairEvaluation(judged, { name, seed: prepared.config.seed });
  },
};
