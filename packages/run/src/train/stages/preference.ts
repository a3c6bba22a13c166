import {
  type JudgedPair,
  judgedPair,
  resolvePreferenceOptions,
  runPreferenceTraining,
} from '@rlp/algorithms/preference';
import { ArgumentError, promptMessages } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import { preferenceOf } from '../data/preference-of.ts';
import { showsMessages } from '../environment.ts';
import type { PreparedRun } from '../prepare.ts';
import type { Stage } from './stage.ts';

/** Options of `runPreferenceTraining` among those of the stage. */
function optionsOf({ given, config }: PreparedRun) {
  const { backend: _, ...options } = given.preference ?? {};
  return { seed: config.seed, ...options };
}

/** Pairs that fit the model, and what was left out. */
function pairsOf({ rows, environment }: PreparedRun, model: LanguageModel) {
  const limit = model.config.contextLength;
  const asMessages = showsMessages(environment);
  const all = rows.practised
    .map(preferenceOf)
    .map((preference) =>
      judgedPair(
        asMessages ? { ...preference, prompt: promptMessages(preference.prompt) } : preference,
        model,
      ),
    );
  const pairs = all.filter((pair) => lengthOf(pair) <= limit);
  if (pairs.length === 0) {
    throw new ArgumentError(
      `preference: each of the ${all.length} pairs is longer than the ${limit} tokens of the model; shorten them, or choose a model with a longer context`,
    );
  }
  const long = all.length - pairs.length;
  const notes =
    long === 0
      ? []
      : [`${long} of ${all.length} pairs are longer than the model's ${limit} tokens and were left out`];
  return { pairs, notes };
}

function lengthOf({ chosen, rejected }: JudgedPair): number {
  return Math.max(chosen.tokens.length, rejected.tokens.length);
}

/** Learns to prefer what people preferred. */
export const preferenceStage: Stage = {
  label: 'Preferences',
  kind: 'preference',
  learningRate: 1e-6,
  backend: ({ config }) => config.preference?.backend,
  plan(prepared, model) {
    const { pairs, notes } = pairsOf(prepared, model);
    const { updates, epochs = 1, pairsPerBatch, loss } = resolvePreferenceOptions(optionsOf(prepared));
    // Losses over single sequences take pairs apart.
    const isSingle = loss.some(({ kind }) => kind === 'kto' || kind === 'apo-zero-unpaired');
    const examples = isSingle ? 2 * pairs.length : pairs.length;
    const perEpoch = Math.ceil(examples / pairsPerBatch);
    const whole = Math.floor(epochs);
    const rest = Math.ceil(((epochs - whole) * examples) / pairsPerBatch);
    const iterations = updates ?? whole * perEpoch + rest;
    const length = pairs.reduce((longest, pair) => Math.max(longest, lengthOf(pair)), 1);
    return { iterations, updates: iterations, notes, batch: { rows: 2 * pairsPerBatch, length } };
  },
  reports({ prepared, policy: { backend }, model, resume, clock, signal }) {
    const { pairs } = pairsOf(prepared, model);
    const options = { ...optionsOf(prepared), ...(resume && { resume: { iteration: resume.iteration } }) };
    return runPreferenceTraining({ backend, pairs, clock, signal }, options);
  },
};
