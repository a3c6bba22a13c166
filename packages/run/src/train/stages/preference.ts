import {
  type PreferenceDependencies,
  pairRewards,
  resolvePreferenceOptions,
  runPreferenceTraining,
} from '@rlp/algorithms/preference';
import type { LanguageModel } from '@rlp/models';
import { labelledAnswers } from '../data/labelled-answers.ts';
import { pairsOf } from '../data/pairs.ts';
import { areRated } from '../data/ratings.ts';
import { pairEvaluation } from '../pair-evaluation.ts';
import type { PreparedRun } from '../prepare.ts';
import { longest, longestPairs } from './largest-update.ts';
import type { Stage, StagePlan } from './stage.ts';
import { updatesOf } from './updates-of.ts';

/** Options of `runPreferenceTraining` among those of the stage. */
function optionsOf({ given, config }: PreparedRun) {
  const { backend: _, ...options } = given.preference ?? {};
  return { seed: config.seed, ...options };
}

/** Pairs, or answers with labels. */
type Judged = Pick<PreferenceDependencies, 'pairs' | 'examples'>;

function judged(prepared: PreparedRun, model: LanguageModel) {
  const { practised } = prepared.rows;
  const options = resolvePreferenceOptions(optionsOf(prepared));
  if (areRated(practised)) {
    const { examples, notes } = labelledAnswers(practised, prepared, model);
    const sequences = examples.map(({ sequence }) => sequence);
    const largest = () => ({
      sequences: longest(sequences, options.pairsPerBatch, ({ tokens }) => tokens.length),
    });
    return { data: { examples }, items: examples.length, largest, notes, options };
  }
  const { pairs, notes } = pairsOf(practised, 'preference', prepared, model);
  // Losses over single sequences take pairs apart.
  const isSingle = options.loss.some(({ kind }) => kind === 'kto' || kind === 'apo-zero-unpaired');
  const items = isSingle ? 2 * pairs.length : pairs.length;
  return { data: { pairs }, items, largest: () => longestPairs(pairs, options), notes, options };
}

/** Learns to prefer what people preferred. */
export const preferenceStage: Stage<Judged> = {
  label: 'Preferences',
  kind: 'preference',
  learningRate: 1e-6,
  backend: ({ given }) => given.preference?.backend,
  plan(prepared, model): StagePlan<Judged> {
    const { data, items, largest, notes, options } = judged(prepared, model);
    const iterations = updatesOf(items, options);
    return { iterations, updates: iterations, notes, largest, data };
  },
  reports({ prepared, policy: { backend }, resume, clock, signal }, { data }) {
    const options = { ...optionsOf(prepared), ...(resume && { resume: { iteration: resume.iteration } }) };
    return runPreferenceTraining({ backend, ...data, clock, signal }, options);
  },
  measuresPairs: ({ config: { evaluation } }) => evaluation !== 'none' && evaluation.data === undefined,
  async measure({ prepared, backend, model }, { limit, ...about }) {
    // Answers with labels have no other answer to be compared with.
    if (areRated(prepared.rows.heldOut)) return undefined;
    const { pairs } = pairsOf(prepared.rows.heldOut.slice(0, limit), 'preference', prepared, model);
    const { chosen, rejected } = await pairRewards(backend, pairs, optionsOf(prepared));
    // Before the first update a policy is its own reference.
    if (chosen.every((reward) => reward === 0) && rejected.every((reward) => reward === 0)) return undefined;
    const compared = pairs.map(({ id, chosen: { tokens } }, at) => {
      return { task: id, rewards: [chosen[at]!, rejected[at]!] as const, tokens: tokens.length };
    });
    return pairEvaluation(compared, { ...about, seed: prepared.config.seed });
  },
};
