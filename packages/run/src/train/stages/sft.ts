import {
  type Demonstration,
  demonstrationSequences,
  resolveSftOptions,
  runSftTraining,
  type SftState,
  withinLength,
} from '@rlp/algorithms';
import {
  ArgumentError,
  type Message,
  messageOf,
  plural,
  promptMessages,
  type TokenSequence,
} from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import { placeOf, type RunRow } from '../data/rows.ts';
import { showsMessages } from '../environment.ts';
import type { PreparedRun } from '../prepare.ts';
import { longest } from './largest-update.ts';
import type { Stage } from './stage.ts';
import { updatesOf } from './updates-of.ts';

/** Options of `runSftTraining` among those of the stage. */
function optionsOf({ given, config }: PreparedRun) {
  const { rows: _, data: __, backend: ___, ...options } = given.sft ?? {};
  return { seed: config.seed, ...options };
}

function demonstrationOf(
  { prompt, completion, toolCalls, tools, isCorpus }: RunRow,
  asMessages: boolean,
): Demonstration {
  if (completion === undefined && isCorpus) return { prompt: '', completion: prompt as string };
  if (!asMessages && typeof prompt === 'string') return { prompt, completion: completion ?? '' };
  const answer: Message = {
    ...{ role: 'assistant', content: completion ?? '' },
    ...(toolCalls && { tool_calls: toolCalls }),
  };
  return { messages: [...promptMessages(prompt), answer], ...(tools && { tools }) };
}

/** What a row shows, as tokens. Its errors name the row. */
function sequencesOfRow(row: RunRow, asMessages: boolean, model: LanguageModel): readonly TokenSequence[] {
  try {
    return demonstrationSequences(demonstrationOf(row, asMessages), model);
  } catch (error) {
    throw new ArgumentError(`sft: ${placeOf(row)}: ${messageOf(error)}`, { cause: error });
  }
}

/** Sequences that fit the model, and what was left out. */
function sequencesOf(prepared: PreparedRun, model: LanguageModel) {
  const { rows, environment } = prepared;
  const { contextLength } = model.config;
  const asMessages = showsMessages(environment);
  const all = rows.imitated.flatMap((row) => sequencesOfRow(row, asMessages, model));
  const limit = optionsOf(prepared).maxLength ?? { tokens: contextLength };
  const { sequences, note } = withinLength(all, limit, contextLength);
  if (sequences.length === 0) {
    throw new ArgumentError(
      `sft: each of the ${plural(all.length, 'example')} is longer than ${plural(limit.tokens, 'token')}; shorten them, raise sft.maxLength, or choose a model with a longer context`,
    );
  }
  return { sequences, notes: note === undefined ? [] : [note] };
}

/** Updates of the whole stage. An estimate if batches end at a number of tokens. */
function sftUpdates(sequences: readonly TokenSequence[], prepared: PreparedRun): number {
  const { sequencesPerBatch, tokensPerBatch, ...length } = resolveSftOptions(optionsOf(prepared));
  const tokens = sequences.reduce((sum, { tokens: { length } }) => sum + length, 0);
  const byTokens =
    tokensPerBatch === undefined ? 0 : updatesOf(tokens, { ...length, pairsPerBatch: tokensPerBatch });
  return Math.max(updatesOf(sequences.length, { ...length, pairsPerBatch: sequencesPerBatch }), byTokens);
}

/** Imitates the completions of the data. */
export const sftStage: Stage<readonly TokenSequence[]> = {
  label: 'SFT',
  kind: 'sft',
  learningRate: 1e-5,
  backend: ({ given }) => given.sft?.backend,
  plan(prepared, model) {
    const { sequences, notes } = sequencesOf(prepared, model);
    const updates = sftUpdates(sequences, prepared);
    const { sequencesPerBatch } = resolveSftOptions(optionsOf(prepared));
    const largest = () => ({
      sequences: longest(sequences, sequencesPerBatch, ({ tokens }) => tokens.length),
    });
    return { iterations: updates, updates, notes, largest, data: sequences };
  },
  reports({ prepared, policy: { backend }, resume, clock, signal }, { data: sequences }) {
    const options = { ...optionsOf(prepared), resume: resume as SftState | undefined };
    return runSftTraining({ backend, sequences, clock, signal }, options);
  },
};
