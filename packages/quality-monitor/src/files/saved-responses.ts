import { stat } from 'node:fs/promises';
import { FormatError, isRecord } from '@rlp/core';
import { cellsOf, columnsOf, type DatasetReader, type DatasetRow, plainMessage } from '@rlp/data';
import { loadDataset } from '@rlp/data/datasets';
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
  /** Receives the error of each line that is not a record, which is left out. Default: the first error is thrown. */
  readonly onMalformed?: ((error: FormatError) => void) | undefined;
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
  const unknown = new Set([fields.rewards ?? [], fields.prompt ?? []].flat());
  let first: DatasetRow | undefined;
  for await (const { at, origin, row } of await recordsOf(path, fields)) {
    first ??= row;
    for (const field of unknown) if (cellsOf(row, field).length > 0) unknown.delete(field);
    const place = `${origin.unit} ${at}`;
    for (const one of responsesOf(row, fields, `${path}, ${place}`)) yield { ...one, place };
  }
  if (first === undefined || unknown.size === 0) return;
  const names = [...unknown].join(' and a field ');
  throw new FormatError(
    `${path}: expected records with a field ${names}, but none has it; the first has ${keysOf(first)}`,
  );
}

async function recordsOf(path: string, { onMalformed }: SavedFields): Promise<DatasetReader<DatasetRow>> {
  if ((await stat(path)).isDirectory()) {
    throw new FormatError(`${path}: expected a file, got a directory; pass one of its files`);
  }
  return (await loadDataset(path, { tornLine: 'skip', onMalformed })).read();
}

/** The responses of a record. A reward or a prompt counts for all of them if there is one only. */
function responsesOf(
  row: DatasetRow,
  { response = 'response', rewards: fields, prompt = 'prompt' }: SavedFields,
  where: string,
): Omit<SavedResponse, 'place'>[] {
  const record = withUsualNames(row);
  const { reward, rewards = reward === undefined ? {} : { reward } } = record;
  const responses = cellsOf(record, response);
  const isRewarded = fields !== undefined || isRecord(rewards);
  if (responses.length === 0 || !isRewarded) {
    throw new FormatError(
      `${where}: expected a field ${isRewarded ? response : 'rewards with names and numbers'}, as in {"response": "…", "rewards": {"name": number}}, messages with an answer of the assistant or a scored trajectory, got ${keysOf(row)}; name the fields (--response, --reward, --prompt) if they differ`,
    );
  }
  const paid = fields
    ? fields.map((field) => ({ name: rewardNameOf(field, fields), values: cellsOf(record, field) }))
    : Object.entries(rewards as object).map(([name, value]) => ({ name, values: [value as unknown] }));
  const known = paid.filter(({ values }) => values.length > 0);
  const prompts = cellsOf(record, prompt);
  const one = (values: readonly unknown[], at: number) => (values.length === 1 ? values[0] : values[at]);
  return responses.map((value, at) => ({
    response: loggedResponse(value),
    rewards: Object.fromEntries(known.map(({ name, values }) => [name, loggedReward(one(values, at))])),
    ...(prompts.length > 0 && { prompt: loggedText(one(prompts, at)) }),
  }));
}

/** A record with the names of a saved response. Conversations and scored trajectories, as rollouts save them, have others. */
function withUsualNames(row: DatasetRow): DatasetRow {
  const { trajectory, reward, components } = row;
  if (!isRecord(trajectory)) return { ...lastAnswerOf(row), ...row };
  const { response, task } = trajectory;
  return {
    ...row,
    ...(response !== undefined && { response }),
    ...(isRecord(task) && { prompt: task.prompt }),
    rewards: { ...(isRecord(components) && components), total: reward },
  };
}

/** The last answer of the assistant in a conversation, and what was said before it. */
function lastAnswerOf(row: DatasetRow): DatasetRow {
  const said = [row[columnsOf(row).messages ?? '']].flat().map(plainMessage);
  const at = said.findLastIndex((message) => isRecord(message) && message.role === 'assistant');
  return at < 0 ? {} : { response: said[at], prompt: said.slice(0, at) };
}

/** Name of the reward of a field: the last part of its path, or the whole path if another field ends alike. */
export function rewardNameOf(field: string, fields: readonly string[]): string {
  const last = (path: string) => path.slice(path.lastIndexOf('.') + 1);
  return fields.some((other) => other !== field && last(other) === last(field)) ? field : last(field);
}

const keysOf = (row: DatasetRow) => `fields ${Object.keys(row).join(', ') || 'none'}`;
