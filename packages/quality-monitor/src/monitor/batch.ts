import { described, isRecord, type Metrics, plural, type ScoredTrajectory } from '@rlp/core';
import type { AssessedBatch } from '../assessor/batch.ts';
import { loggedResponse, loggedText } from '../text/logged-text.ts';

/** Responses and rewards of one batch, without trajectories. */
export interface MonitoredBatch extends Pick<AssessedBatch, 'responses' | 'rewards'> {
  /** Prompt of each response. Equal prompts are one task. Default: each response is its own task. */
  readonly prompts?: readonly string[] | undefined;
  /** Must grow from batch to batch. Default: one more than the last. */
  readonly step?: number | undefined;
  /** Metrics to log beside the batch's own. */
  readonly extraMetrics?: Metrics | undefined;
}

/** Is told which part of a batch is invalid, and why. */
type Fault = (part: string, problem: string) => void;

/**
 * Removes the invalid parts of a batch, so that an error in one reward costs neither the others nor the run.
 *
 * A reward that does not have one value per response, or that occurred before and is absent now, counts as missing.
 *
 * @param known - Rewards of earlier batches.
 */
export function checkedBatch(given: MonitoredBatch, known: readonly string[], fault: Fault): MonitoredBatch {
  const responses = textsOf('responses', given.responses, loggedResponse, fault);
  const missing = responses.map(() => null);
  const rewards: Record<string, readonly (number | null)[]> = {};
  if (given.rewards === undefined && responses.length > 0)
    fault('rewards', `expected lists of numbers by name, got only ${Object.keys(given).join(', ')}`);
  for (const [name, values] of Object.entries(rewardsByName(given.rewards))) {
    const numbers = (listOf(values) ?? []).map(loggedReward);
    const fits = numbers.length === responses.length;
    rewards[name] = fits ? numbers : missing;
    if (!fits) fault(`reward ${name}`, `values: ${numbers.length}, responses: ${responses.length}`);
    const invalid = rewards[name].filter((value) => value !== null && !Number.isFinite(value)).length;
    if (invalid > 0) fault(`reward ${name}`, `not finite: ${invalid} of ${plural(numbers.length, 'value')}`);
  }
  for (const name of responses.length === 0 ? [] : known) {
    // The sum of the components replaces a missing total.
    if (name in rewards || name === 'total') continue;
    rewards[name] = missing;
    fault(`reward ${name}`, 'it is missing');
  }
  if (given.prompts === undefined) return { responses, rewards };
  const prompts = textsOf('prompts', given.prompts, loggedText, fault);
  if (prompts.length === responses.length) return { responses, rewards, prompts };
  fault('prompts', `${plural(prompts.length, 'prompt')} for ${plural(responses.length, 'response')}`);
  return { responses, rewards };
}

/** Values of a list or a typed array, for example. */
function listOf(value: unknown): readonly unknown[] | undefined {
  const isIterable = typeof value === 'object' && value !== null && Symbol.iterator in value;
  return isIterable ? Array.from(value as Iterable<unknown>) : undefined;
}

/** Rewards by name. Logs also hold a list of numbers, or one record of rewards for each response. */
function rewardsByName(rewards: unknown): Readonly<Record<string, unknown>> {
  const rows = listOf(rewards);
  if (rows === undefined) return isRecord(rewards) ? rewards : {};
  const records = rows.map(
    (row) => new Map<string, unknown>(typeof row === 'object' ? Object.entries(row ?? {}) : []),
  );
  const names = new Set(records.flatMap((record) => [...record.keys()]));
  if (names.size === 0) return { reward: rows };
  return Object.fromEntries([...names].map((name) => [name, records.map((record) => record.get(name))]));
}

/** Texts as a log has them: numbers, messages and objects become text, and missing ones are empty. */
function textsOf(name: string, list: unknown, textOf: (value: unknown) => string, fault: Fault): string[] {
  const given = listOf(list);
  if (given === undefined) fault(name, `expected a list of texts, got ${described(list)}`);
  const values = given ?? [];
  const odd = values.filter((value) => typeof value !== 'string').length;
  if (odd > 0) fault(name, `${odd} of ${values.length} are not text`);
  return values.map((value) => (typeof value === 'string' ? value : textOf(value)));
}

/** A reward as a log has it: booleans and texts of numbers count. Anything else is NaN, and what is missing is null. */
export function loggedReward(value: unknown): number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value.trim() === '' ? null : Number(value);
  return ['number', 'boolean', 'bigint'].includes(typeof value) ? Number(value) : Number.NaN;
}

/**
 * Makes trajectories of a batch's responses, with their indices as ids (`'0'`, `'1'`…).
 *
 * The reward is `rewards.total`, or else the sum of all components. A component without any value in the batch is left out of
 * the sum. A response that lacks one of the others has no reward.
 */
export function trajectoriesOf({ responses, rewards, prompts }: MonitoredBatch): ScoredTrajectory[] {
  const components = Object.entries(rewards);
  const known = components.filter(([, values]) => values.some((value) => Number.isFinite(value)));
  const total = known.filter(([name]) => name === 'total');
  const summed = (total.length > 0 ? total : known).map(([, values]) => values);
  return responses.map((response, at) => {
    const id = String(at);
    const prompt = prompts?.[at] ?? '';
    const task = { id: prompts === undefined ? id : prompt, prompt, metadata: undefined };
    const reward = summed.reduce((sum, values) => sum + (values[at] ?? Number.NaN), 0);
    return {
      trajectory: { id, task, steps: [], messages: [], response, status: 'completed', policyVersion: 0 },
      reward: summed.length > 0 && Number.isFinite(reward) ? reward : null,
      components: Object.fromEntries(components.map(([name, values]) => [name, values[at] ?? null])),
    };
  });
}

/** Values by reward component, with the reward itself as `total`. */
export function rewardsOf(trajectories: readonly ScoredTrajectory[]): AssessedBatch['rewards'] {
  const names = new Set(trajectories.flatMap(({ components }) => Object.keys(components)));
  const valuesOf = (name: string) => trajectories.map(({ components }) => components[name] ?? null);
  const rewards = Object.fromEntries([...names].map((name) => [name, valuesOf(name)]));
  return { ...rewards, total: trajectories.map(({ reward }) => reward) };
}
