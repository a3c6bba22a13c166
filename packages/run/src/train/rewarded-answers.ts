import {
  causeOf,
  isRecord,
  plural,
  promptMessages,
  type RewardComputer,
  requireArguments,
  trajectoryFromMessages,
  withPlace,
} from '@rlp/core';
import { checkRun } from '../config/check-run.ts';
import { modeOf, modes } from '../config/modes.ts';
import type { ResolvedRunConfig, RunConfig } from '../config/run-schema.ts';
import type { AnswerMetadata } from '../config/stock-rewards.ts';
import { componentNames } from '../evaluate/component-names.ts';
import type { RunRow } from './data/rows.ts';
import { type PreparedRun, rowsOf } from './prepare.ts';
import { createRewards } from './rewards.ts';

/** What a part of the reward gives to the answers of the first rows. */
export interface RewardedAnswers {
  /** Name of the part. */
  readonly name: string;
  /** Rows with an answer that were scored. */
  readonly answers: number;
  /** Answers that got more than 0. */
  readonly rewarded: number;
  /** Why the last answer without a score has none. */
  readonly failure: string | undefined;
}

type AnsweredRow = RunRow & { readonly completion: string };

/** Scores what the first rows show as answers, as they are written there. Empty if they show none. */
async function rewardAnswers(
  rows: readonly RunRow[],
  rewards: RewardComputer<AnswerMetadata>,
  { count, signal }: { readonly count: number; readonly signal: AbortSignal | undefined },
): Promise<readonly RewardedAnswers[]> {
  const answered = rows.filter((row): row is AnsweredRow => row.completion !== undefined).slice(0, count);
  const scored = await Promise.all(
    answered.map(async ({ id, prompt, completion, metadata }) => {
      const messages = [...promptMessages(prompt), { role: 'assistant', content: completion } as const];
      const trajectory = trajectoryFromMessages({ id, messages, metadata });
      // No tokenizer is loaded: for rewards that count tokens, a character is one.
      const steps = trajectory.steps.map((step) => ({
        ...step,
        tokens: Array.from(step.text, (character) => character.codePointAt(0)!),
      }));
      const task = { ...trajectory.task, id };
      const group = { id, task, trajectories: [{ ...trajectory, steps }] };
      return (await rewards.computeRewards(group, { signal }))[0]!;
    }),
  );
  return componentNames(scored).map((name) => {
    const scores = scored.flatMap(({ components }) => components[name] ?? []);
    const failures = scored.flatMap(({ failures = [] }) => failures.filter(({ source }) => source === name));
    const rewarded = scores.filter((score) => score > 0).length;
    const last = failures.at(-1);
    const failure = last && withPlace(last.message, causeOf(last));
    return { name, answers: scores.length, rewarded, failure };
  });
}

/**
 * What the rewards of a configuration give to the answers of its data. Empty if a model would have to be loaded for it.
 *
 * @throws what `trainRun` throws if the rows cannot be read, or do not suffice for what the run does with them.
 */
export async function checkRunRewards(
  given: RunConfig,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly RewardedAnswers[]> {
  requireArguments('checkRunRewards', { options: 'object?' }, options);
  const { signal } = options;
  const config = checkRun(given, 'checkRunRewards');
  const { practised, heldOut } = await rowsOf(config, modes[modeOf(config)!], signal);
  if (judgesByModel(config)) return [];
  const { computer, close } = createRewards(config);
  try {
    return await rewardAnswers([...practised, ...heldOut], computer, { count: 10, signal });
  } finally {
    await close();
  }
}

/**
 * A sentence if the model will imitate answers that its rewards give nothing for.
 *
 * Only rewards that the configuration names are asked: a function may be a judge whose calls cost money.
 */
export async function unrewardedAnswers(
  { config, stages, rows, rewards }: Pick<PreparedRun, 'config' | 'stages' | 'rows' | 'rewards'>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (!(stages.includes('sft') && stages.includes('rl')) || !isNamed(config)) return undefined;
  const parts = await rewardAnswers(rows.imitated, rewards, { count: 50, signal });
  const useless = parts.find(({ answers, rewarded }) => answers > 0 && rewarded === 0);
  if (useless === undefined) return undefined;
  return (
    `The reward "${useless.name}" gives 0 to the first ${plural(useless.answers, 'answer')} that will be imitated. ` +
    'Compare what it reads with how the answers are written: exactAnswer reads <answer> tags, answer the end of the response.'
  );
}

function isNamed(config: ResolvedRunConfig): boolean {
  const { rewards = {} } = config;
  const parts: readonly unknown[] = typeof rewards === 'function' ? [rewards] : Object.values(rewards);
  const named = parts.every((part) => typeof part === 'string' || (isRecord(part) && 'name' in part));
  return named && !judgesByModel(config);
}

function judgesByModel({ rewards }: ResolvedRunConfig): boolean {
  return JSON.stringify(rewards ?? {}).includes('"rewardModel"');
}
