import { FormatError, promptText } from '@rlp/core';
import { parseJsonLines } from '@rlp/data';
import * as z from 'zod';
import { csvRecords } from './csv.ts';

/** A saved response with its rewards. */
export interface SavedResponse {
  readonly response: string;
  /** By component. */
  readonly rewards: Readonly<Record<string, number | null>>;
  /** The prompt, if it was saved. */
  readonly prompt?: string | undefined;
}

const rewards = z.record(z.string(), z.number().nullable());

/** An assistant turn that only calls tools has `null`. */
const message = z.object({
  content: z
    .string()
    .nullable()
    .transform((content) => content ?? ''),
});

/** A scored trajectory, as rollouts save it. */
const trajectoryLine = z.object({
  trajectory: z.object({
    response: z.string(),
    task: z
      .object({ prompt: z.union([z.string(), z.array(message)], 'expected text or a list of messages') })
      .optional(),
  }),
  reward: z.number().nullable(),
  components: rewards,
});

const rewardsLine = z.object({ response: z.string(), rewards, prompt: z.string().optional() });

const rewardLine = z.object({
  response: z.string(),
  reward: z.number().nullable().optional(),
  prompt: z.string().optional(),
});

/** By what a line says that it is, so that what is wrong with it can be told. */
function parseLine(value: unknown) {
  const line: object = typeof value === 'object' && value !== null ? value : {};
  if ('trajectory' in line) return trajectoryLine.safeParse(line);
  return 'rewards' in line ? rewardsLine.safeParse(line) : rewardLine.safeParse(line);
}

/** Fields of a file with other names. A dot leads into an object, `*` into each element of a list. */
export interface SavedFields {
  /** The response, such as `completion` or `completions.*.text`. Default `response`. */
  readonly response?: string | undefined;
  /** Its reward: a number, a boolean or a text of a number. Default `reward` or `rewards`. */
  readonly reward?: string | undefined;
  /** Its prompt. Default `prompt`. */
  readonly prompt?: string | undefined;
}

/**
 * Reads saved responses from JSON Lines, or from CSV if the path ends with `.csv`. A last line that a crash cut short is left out.
 *
 * @param path - Named in errors.
 * @throws FormatError naming the line that is something else.
 */
export function readSavedResponses(text: string, path: string, fields: SavedFields = {}): SavedResponse[] {
  const isMapped = Object.values(fields).some((field) => field !== undefined);
  if (path.toLowerCase().endsWith('.csv')) {
    return csvRecords(text).flatMap(({ number, record }) =>
      mapped(record, fields, `${path}, line ${number}`),
    );
  }
  const lines = parseJsonLines(text, { source: path, expected, tornLine: 'skip' });
  return Array.from(lines).flatMap(({ number, value }) => {
    if (isMapped) return mapped(value, fields, `${path}, line ${number}`);
    const parsed = parseLine(value);
    if (parsed.success) return savedResponse(parsed.data);
    const { path: field, message: problem } = parsed.error.issues[0]!;
    throw new FormatError(
      `${path}, line ${number}: expected ${expected}; ${field.join('.')}: ${problem}. The record has ${keysOf(value)}; name its fields if they differ`,
    );
  });
}

const expected = '{"response": "…", "rewards": {"name": number}} or a scored trajectory';

/** The responses of a record. A reward or a prompt counts for all of them if there is one only. */
function mapped(record: unknown, fields: SavedFields, where: string): SavedResponse[] {
  const { response = 'response', reward = 'reward', prompt = 'prompt' } = fields;
  const responses = valuesAt(record, response.split('.'));
  if (responses.length === 0) {
    throw new FormatError(`${where}: expected a field ${response}, got ${keysOf(record)}`);
  }
  const rewards = valuesAt(record, reward.split('.'));
  const prompts = valuesAt(record, prompt.split('.'));
  const one = (values: readonly unknown[], at: number) => (values.length === 1 ? values[0] : values[at]);
  return responses.map((value, at) => ({
    response: typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
    rewards: rewards.length === 0 ? {} : { reward: rewardOf(one(rewards, at)) },
    ...(prompts.length > 0 && { prompt: textOf(one(prompts, at)) }),
  }));
}

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (name === '*') return Object.values(value).flatMap((one) => valuesAt(one, rest));
  return Object.hasOwn(value, name) ? valuesAt(value[name as never], rest) : [];
}

function rewardOf(value: unknown): number | null {
  const number = value === null || value === undefined || value === '' ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function keysOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `fields ${Object.keys(value).join(', ') || 'none'}`;
}

function savedResponse(line: NonNullable<ReturnType<typeof parseLine>['data']>): SavedResponse {
  if ('trajectory' in line) {
    const { response, task } = line.trajectory;
    return {
      response,
      rewards: { ...line.components, total: line.reward },
      prompt: task && promptText(task.prompt),
    };
  }
  if ('rewards' in line) return line;
  const { response, prompt, reward } = line;
  return { response, prompt, rewards: reward === undefined ? {} : { reward } };
}
