import { open } from 'node:fs/promises';
import { FormatError, isRecord } from '@rlp/core';
import { loadDataset } from '@rlp/data/datasets';
import { readJsonLinesFile } from '@rlp/data/files';
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

/**
 * Reads saved responses from JSON Lines, a JSON list, CSV or Parquet, also compressed by gzip. Parquet needs the package `hyparquet`.
 * A last line of JSON Lines that a crash cut short is left out.
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
 * Reads the responses of {@link readSavedResponses} one by one. Memory holds a piece of the file, or one row group of Parquet.
 *
 * @throws the errors of {@link readSavedResponses}. Those about fields that no record has come last.
 */
export async function* streamSavedResponses(
  path: string,
  fields: SavedFields = {},
): AsyncGenerator<SavedResponse, void, undefined> {
  const isMapped = Object.values(fields).some((field) => field !== undefined);
  const unknown = new Set([fields.rewards ?? [], fields.prompt ?? []].flat());
  let first: unknown;
  let count = 0;
  for await (const { place, value } of recordsOf(path)) {
    first ??= value;
    const where = `${path}, ${place}`;
    for (const field of unknown) if (valuesAt(value, field).length > 0) unknown.delete(field);
    for (const one of isMapped ? mapped(value, fields, where) : [parsed(value, where)]) {
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

const expected = '{"response": "…", "rewards": {"name": number}} or a scored trajectory';

async function* recordsOf(
  path: string,
): AsyncGenerator<{ readonly place: string; readonly value: unknown }, void, undefined> {
  if (await isJsonLines(path)) {
    for await (const { number, value } of readJsonLinesFile(path, { expected, tornLine: 'skip' })) {
      yield { place: `line ${number}`, value };
    }
    return;
  }
  for await (const entries of (await loadDataset(path)).batches()) {
    for (const { row, at, origin } of entries) yield { place: `${origin.unit} ${at}`, value: row };
  }
}

/** Whether a file is neither Parquet, a table, compressed nor a JSON list. */
async function isJsonLines(path: string): Promise<boolean> {
  try {
    await using file = await open(path);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    const head = buffer.toString('latin1', 0, bytesRead).replace(/^\u00ef\u00bb\u00bf/, '');
    const isPacked = head.startsWith('\u001f\u008b') || head.startsWith('PAR1');
    return !isPacked && !/\.([ct]sv|parquet|gz|zst)$/i.test(path) && !/^\s*\[/.test(head);
  } catch (cause) {
    // The system's other messages name the path.
    if ((cause as NodeJS.ErrnoException).code !== 'EISDIR') throw cause;
    throw new FormatError(`${path}: expected a file, got a directory; pass one of its files`, { cause });
  }
}

/** A response before its place is known. */
type Unplaced = Omit<SavedResponse, 'place'>;

/** Reads a record as rollouts save it, or with the usual names. */
function parsed(value: unknown, where: string): Unplaced {
  const record = isRecord(value) ? value : {};
  const { trajectory, reward, components, rewards = reward === undefined ? {} : { reward } } = record;
  const rollout = isRecord(trajectory) ? trajectory : undefined;
  const { response, prompt = isRecord(rollout?.task) ? rollout.task.prompt : undefined } = rollout ?? record;
  const paid = rollout === undefined ? rewards : { ...(isRecord(components) && components), total: reward };
  if (response === undefined || !isRecord(paid)) {
    const problem =
      response === undefined ? 'response: it is missing' : 'rewards: expected names and numbers';
    throw new FormatError(
      `${where}: expected ${expected}; ${problem}. The record has ${keysOf(value)}; name its fields (--response, --reward, --prompt) if they differ`,
    );
  }
  return {
    response: loggedResponse(response),
    rewards: Object.fromEntries(Object.entries(paid).map(([name, one]) => [name, loggedReward(one)])),
    ...(prompt !== undefined && { prompt: loggedText(prompt) }),
  };
}

/** The responses of a record. A reward or a prompt counts for all of them if there is one only. */
function mapped(record: unknown, fields: SavedFields, where: string): Unplaced[] {
  const { response = 'response', rewards = ['reward'], prompt = 'prompt' } = fields;
  const responses = valuesAt(record, response);
  if (responses.length === 0) {
    throw new FormatError(`${where}: expected a field ${response}, got ${keysOf(record)}`);
  }
  const paid = rewards.map((field) => ({ name: nameOf(field, rewards), values: valuesAt(record, field) }));
  const known = paid.filter(({ values }) => values.length > 0);
  const prompts = valuesAt(record, prompt);
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

/** Values of a field in a record. */
function valuesAt(record: unknown, field: string): unknown[] {
  return field.split('.').reduce<unknown[]>(
    (values, name) => {
      const objects = values.filter((value) => typeof value === 'object' && value !== null) as object[];
      if (name === '*') return objects.flatMap((one) => Object.values(one));
      return objects.flatMap((one) => (Object.hasOwn(one, name) ? [one[name as never]] : []));
    },
    [record],
  );
}

function keysOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `fields ${Object.keys(value).join(', ') || 'none'}`;
}
