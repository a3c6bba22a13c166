import { judgedPair } from '@rlp/algorithms/preference';
import { FormatError, messageOf, plural, promptMessages, requireArguments } from '@rlp/core';
import { checkRun } from '../config/check-run.ts';
import { modeOf, modes, type StageName } from '../config/modes.ts';
import type { RunConfig } from '../config/run-schema.ts';
import { loadRows } from './data/load-rows.ts';
import { pairLength } from './data/pairs.ts';
import { preferenceOf } from './data/preference-of.ts';
import { areRated } from './data/ratings.ts';
import { placeOf, type RunRow } from './data/rows.ts';
import { createEnvironment, showsMessages } from './environment.ts';
import { loadRunModel } from './load-run-model.ts';

/** What the preference pairs of a run are like. */
export interface CheckedPairs {
  /** Rows that were read. */
  readonly pairs: number;
  /** Why the run would fail: rows without two answers, and rows whose answers are equal. A sentence each, with a count and the first row. */
  readonly problems: readonly string[];
  /** Rows that are longer than the model or `maxLength` allows. `undefined` if there are none, or other problems come first. */
  readonly tooLong: string | undefined;
}

/** Pairs that are made tokens, from the first. */
const measured = 1000;

/**
 * Reads the pairs of a configuration that learns from preferences. `undefined` for another one, and for answers with labels.
 *
 * The first 1,000 pairs are made tokens to see how long they are.
 */
export async function checkRunPairs(
  given: RunConfig,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<CheckedPairs | undefined> {
  requireArguments('checkRunPairs', { options: 'object?' }, options);
  const { signal } = options;
  const config = checkRun(given, 'checkRunPairs');
  const stages: readonly StageName[] = modes[modeOf(config)!];
  const section = stages.includes('preference') ? 'preference' : 'rewardModel';
  if (config.data === undefined || !(section === 'preference' || stages.includes('reward-model')))
    return undefined;
  const rows = await loadRows(config.data, { seed: config.seed, signal });
  if (areRated(rows)) return undefined;
  const problems = [...brokenRows(rows), ...equalAnswers(rows)];
  if (problems.length > 0) return { pairs: rows.length, problems, tooLong: undefined };
  const model = await loadRunModel(config, signal);
  const environment = await createEnvironment(config.environment, {
    hasChat: model.chat !== undefined,
    rows,
  });
  const asMessages = showsMessages(environment);
  const lengths = rows.slice(0, measured).map((row) => {
    const { prompt, ...answers } = preferenceOf(row);
    return pairLength(
      judgedPair({ ...answers, prompt: asMessages ? promptMessages(prompt) : prompt }, model),
    );
  });
  const limit = given[section]?.maxLength?.tokens ?? model.config.contextLength;
  const long = lengths.filter((length) => length > limit);
  const tooLong = `${long.length} of ${plural(lengths.length, 'pair')} ${long.length === 1 ? 'is' : 'are'} longer than ${plural(limit, 'token')}, the longest has ${Math.max(0, ...long)}`;
  return { pairs: rows.length, problems, tooLong: long.length === 0 ? undefined : tooLong };
}

function brokenRows(rows: readonly RunRow[]): string[] {
  const errors = rows.flatMap((row) => {
    try {
      preferenceOf(row);
      return [];
    } catch (error) {
      if (error instanceof FormatError) return [messageOf(error)];
      throw error;
    }
  });
  return errors.length === 0
    ? []
    : [
        `${errors.length} of ${plural(rows.length, 'row')} ${errors.length === 1 ? 'holds' : 'hold'} no pair, the first: ${errors[0]}`,
      ];
}

function equalAnswers(rows: readonly RunRow[]): string[] {
  const equal = rows.filter(({ metadata }) => {
    const { chosen, rejected } = metadata as { readonly chosen?: unknown; readonly rejected?: unknown };
    return chosen !== undefined && JSON.stringify(chosen) === JSON.stringify(rejected);
  });
  if (equal.length === 0) return [];
  return [
    `${equal.length} of ${plural(rows.length, 'pair')} ${equal.length === 1 ? 'has' : 'have'} equal answers, the first is ${placeOf(equal[0]!)}; remove them`,
  ];
}
