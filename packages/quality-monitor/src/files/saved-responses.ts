import { open, readFile } from 'node:fs/promises';
import { FormatError, promptText } from '@rlp/core';
import { parseCsv } from '@rlp/data';
import { readJsonLinesFile } from '@rlp/data/files';
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
  const saved: SavedResponse[] = [];
  for await (const one of streamSavedResponses(path, fields)) saved.push(one);
  return saved;
}

/**
 * Reads the responses of {@link readSavedResponses} one by one. Memory holds one line of JSON Lines or one row group of Parquet.
 * CSV and a JSON list are read as a whole.
 *
 * @throws the errors of {@link readSavedResponses}. Those about fields that no record has come last.
 */
export async function* streamSavedResponses(
  path: string,
  fields: SavedFields = {},
): AsyncGenerator<SavedResponse, void, undefined> {
  const isMapped = Object.values(fields).some((field) => field !== undefined);
  const unknown = new Set([
    ...(fields.rewards ?? []),
    ...(fields.prompt === undefined ? [] : [fields.prompt]),
  ]);
  let first: unknown;
  let count = 0;
  for await (const { place, value } of recordsOf(path)) {
    first ??= value;
    const where = `${path}, ${place}`;
    for (const one of isMapped ? mapped(value, fields, where) : [parsed(value, where)]) {
      for (const field of unknown) if (hasField(one, field, fields)) unknown.delete(field);
      count += 1;
      yield { ...one, place };
    }
  }
  if (count === 0 || unknown.size === 0) return;
  const names = [...unknown].join(' and a field ');
  throw new FormatError(
    `${path}: expected records with a field ${names}, but none has it; the first has ${keysOf(first)}`,
  );
}

/** Whether a response has the reward or the prompt of a field. */
function hasField({ rewards, prompt }: Unplaced, field: string, fields: SavedFields): boolean {
  return (
    (fields.rewards?.includes(field) === true && nameOf(field, fields.rewards) in rewards) ||
    (field === fields.prompt && prompt !== undefined)
  );
}

async function* recordsOf(path: string): AsyncGenerator<SavedRecord> {
  const head = await headOf(path);
  if (head.subarray(0, 4).toString('latin1') === 'PAR1' || /\.parquet$/i.test(path)) {
    for await (const { number, value } of readParquetFile(path)) yield { place: `row ${number}`, value };
  } else if (/\.[ct]sv$/i.test(path)) {
    for (const { number, record } of parseCsv(textOf(await readFile(path), path), { source: path })) {
      yield { place: `line ${number}`, value: record };
    }
  } else if (/^\s*\[/.test(textOf(head, path, { stream: true }))) {
    const list = listOf(textOf(await readFile(path), path), path);
    for (const [at, value] of list.entries()) yield { place: `element ${at + 1}`, value };
  } else {
    for await (const { number, value } of readJsonLinesFile(path, { expected, tornLine: 'skip' })) {
      yield { place: `line ${number}`, value };
    }
  }
}

/** Enough bytes to know the format. */
async function headOf(path: string): Promise<Buffer> {
  try {
    await using file = await open(path);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(65_536), 0, 65_536, 0);
    return buffer.subarray(0, bytesRead);
  } catch (cause) {
    // The system's other messages name the path.
    if ((cause as NodeJS.ErrnoException).code !== 'EISDIR') throw cause;
    throw new FormatError(`${path}: expected a file, got a directory; pass one of its files`, { cause });
  }
}

function textOf(bytes: Uint8Array, path: string, options?: { readonly stream: true }): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, options);
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
