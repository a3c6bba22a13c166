import { readFile } from 'node:fs/promises';
import { FormatError, promptText } from '@rlp/core';
import { parseCsv, parseJsonLines } from '@rlp/data';
import { readParquetFile } from '@rlp/data/parquet';
import * as z from 'zod';
import { loggedReward } from '../monitor/batch.ts';
import { loggedResponse, loggedText } from '../text/logged-text.ts';

/** A saved response with its rewards. */
export interface SavedResponse {
  readonly response: string;
  /** By component. `null` if it is missing, NaN if it is not a number. */
  readonly rewards: Readonly<Record<string, number | null>>;
  /** The prompt, if it was saved. */
  readonly prompt?: string | undefined;
  /** Place in the file, such as `line 7`. */
  readonly place: string;
}

/** Fields of a file with other names. A dot leads into an object, `*` into each element of a list. */
export interface SavedFields {
  /** The response, such as `completion` or `completions.*.text`. Default `response`. */
  readonly response?: string | undefined;
  /** Its rewards: numbers, booleans or texts of numbers. Each is named by the last part of its field, or by all of it if two end alike. Default `reward` or `rewards`. */
  readonly rewards?: readonly string[] | undefined;
  /** Its prompt. Default `prompt`. */
  readonly prompt?: string | undefined;
}

interface SavedRecord {
  readonly place: string;
  readonly value: unknown;
}

/**
 * Reads saved responses from JSON Lines, a JSON list, CSV or Parquet. Parquet needs the package `hyparquet`. A last line of JSON Lines
 * that a crash cut short is left out.
 *
 * @throws FormatError naming the line or row that is something else.
 * @throws MissingPeerError for a Parquet file without `hyparquet`.
 */
export async function readSavedResponses(path: string, fields: SavedFields = {}): Promise<SavedResponse[]> {
  const isMapped = Object.values(fields).some((field) => field !== undefined);
  const saved: SavedResponse[] = [];
  let first: unknown;
  for await (const { place, value } of recordsOf(path)) {
    first ??= value;
    const where = `${path}, ${place}`;
    const responses = isMapped ? mapped(value, fields, where) : [parsed(value, where)];
    for (const one of responses) saved.push({ ...one, place });
  }
  const unknown = unknownFields(saved, fields);
  if (saved.length === 0 || unknown.length === 0) return saved;
  throw new FormatError(
    `${path}: expected records with a field ${unknown.join(' and a field ')}, but none has it; the first has ${keysOf(first)}`,
  );
}

/** Fields of rewards and prompts that no record has. */
function unknownFields(saved: readonly SavedResponse[], { rewards = [], prompt }: SavedFields): string[] {
  const without = rewards.filter((field) => !saved.some((one) => nameOf(field, rewards) in one.rewards));
  const lacksPrompt = prompt !== undefined && saved.every((one) => one.prompt === undefined);
  return lacksPrompt ? [...without, prompt] : without;
}

async function* recordsOf(path: string): AsyncGenerator<SavedRecord> {
  const bytes = await bytesOf(path);
  if (bytes.subarray(0, 4).toString('latin1') === 'PAR1' || /\.parquet$/i.test(path)) {
    for await (const { number, value } of readParquetFile(path)) yield { place: `row ${number}`, value };
    return;
  }
  const text = textOf(bytes, path);
  if (/\.[ct]sv$/i.test(path)) {
    for (const { number, record } of parseCsv(text, { source: path })) {
      yield { place: `line ${number}`, value: record };
    }
  } else if (/^\s*\[/.test(text)) {
    for (const [at, value] of listOf(text, path).entries()) yield { place: `element ${at + 1}`, value };
  } else {
    for (const { number, value } of parseJsonLines(text, { source: path, expected, tornLine: 'skip' })) {
      yield { place: `line ${number}`, value };
    }
  }
}

async function bytesOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    // The system's other messages name the path.
    if ((cause as NodeJS.ErrnoException).code !== 'EISDIR') throw cause;
    throw new FormatError(`${path}: expected a file, got a directory; pass one of its files`, { cause });
  }
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new FormatError(
      `${path}: expected UTF-8 text or Parquet, got other bytes; unpack the file, or save it as UTF-8`,
      { cause },
    );
  }
}

function listOf(text: string, path: string): readonly unknown[] {
  try {
    return JSON.parse(text) as readonly unknown[];
  } catch (cause) {
    throw new FormatError(`${path}: expected a JSON list or one JSON record per line: ${String(cause)}`, {
      cause,
    });
  }
}

/** A response before its place is known. */
type Unplaced = Omit<SavedResponse, 'place'>;

const reward = z.unknown().transform(loggedReward);
const rewards = z.record(z.string(), reward);
const text = z.unknown().transform(loggedText);
const response = z.unknown().refine((value) => value !== undefined, 'it is missing');

/** An assistant turn that only calls tools has `null`. */
const message = z.object({
  content: z
    .string()
    .nullable()
    .transform((content) => content ?? ''),
});

/** A scored trajectory, as rollouts save it. */
const trajectoryRecord = z.object({
  trajectory: z.object({
    response: z.string(),
    task: z
      .object({ prompt: z.union([z.string(), z.array(message)], 'expected text or a list of messages') })
      .optional(),
  }),
  reward,
  components: rewards,
});

const rewardsRecord = z.object({
  response: response.transform(loggedResponse),
  rewards,
  prompt: text.optional(),
});
const rewardRecord = z.object({
  response: response.transform(loggedResponse),
  reward: reward.optional(),
  prompt: text.optional(),
});

const expected = '{"response": "…", "rewards": {"name": number}} or a scored trajectory';

/** Reads a record by what it says that it is, so that the error fits. */
function parsed(value: unknown, where: string): Unplaced {
  const record: object = typeof value === 'object' && value !== null ? value : {};
  const read = 'trajectory' in record ? asTrajectory : 'rewards' in record ? asRewards : asReward;
  const { success, data, error } = read(record);
  if (success) return data;
  const { path: field, message: problem } = error.issues[0]!;
  throw new FormatError(
    `${where}: expected ${expected}; ${field.join('.')}: ${problem}. The record has ${keysOf(value)}; name its fields (--response, --reward, --prompt) if they differ`,
  );
}

const asRewards = (record: object) => rewardsRecord.safeParse(record);
const asReward = (record: object) =>
  rewardRecord
    .transform(({ reward: only, ...rest }) => ({
      ...rest,
      rewards: only === undefined ? {} : { reward: only },
    }))
    .safeParse(record);
const asTrajectory = (record: object) =>
  trajectoryRecord
    .transform(({ trajectory, reward: total, components }) => ({
      response: trajectory.response,
      rewards: { ...components, total },
      prompt: trajectory.task && promptText(trajectory.task.prompt),
    }))
    .safeParse(record);

/** The responses of a record. A reward or a prompt counts for all of them if there is one only. */
function mapped(record: unknown, fields: SavedFields, where: string): Unplaced[] {
  const { response = 'response', rewards = ['reward'], prompt = 'prompt' } = fields;
  const valuesOf = (field: string) => valuesAt(record, field.split('.'));
  const responses = valuesOf(response);
  if (responses.length === 0) {
    throw new FormatError(`${where}: expected a field ${response}, got ${keysOf(record)}`);
  }
  const paid = rewards.map((field) => ({ name: nameOf(field, rewards), values: valuesOf(field) }));
  const known = paid.filter(({ values }) => values.length > 0);
  const prompts = valuesOf(prompt);
  const one = (values: readonly unknown[], at: number) => (values.length === 1 ? values[0] : values[at]);
  return responses.map((value, at) => ({
    response: loggedResponse(value),
    rewards: Object.fromEntries(known.map(({ name, values }) => [name, loggedReward(one(values, at))])),
    ...(prompts.length > 0 && { prompt: loggedText(one(prompts, at)) }),
  }));
}

/** The last part of a field's path, or the whole path if another field ends alike. */
function nameOf(field: string, fields: readonly string[]): string {
  const [own, ...others] = [field, ...fields.filter((other) => other !== field)].map((path) =>
    path.slice(path.lastIndexOf('.') + 1),
  );
  return others.includes(own!) ? field : own!;
}

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (name === '*') return Object.values(value).flatMap((one) => valuesAt(one, rest));
  return Object.hasOwn(value, name) ? valuesAt(value[name as never], rest) : [];
}

function keysOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `fields ${Object.keys(value).join(', ') || 'none'}`;
}
