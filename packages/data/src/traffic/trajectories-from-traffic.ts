import {
  callback,
  FormatError,
  messageOf,
  parseOptions,
  requireArguments,
  requireFields,
  type ToolSchema,
  type Trajectory,
  toolSchema,
  trajectoryFromMessages,
} from '@rlp/core';
import * as z from 'zod';
import { parseJsonLines } from '../lines/json-lines.ts';
import { recordedExchanges } from './record.ts';
import type { RecordedExchange, TrafficFormat } from './recorded-exchange.ts';
import { unknownRecord } from './unknown-record.ts';
import { type Recorded, wholeConversations } from './whole-conversations.ts';

const schema = z.strictObject({
  /** Name of the log in errors and ids, such as its file. Default `'traffic'`. */
  source: z.string().min(1).default('traffic'),
  /**
   * An agent sends the whole conversation with each request. `'whole'` keeps the longest record of each conversation and no copies, `'each'` keeps all.
   * A record goes on from a shorter one with the same messages, unless they differ in their conversation, session or trace, their user, or
   * another label. A copy has the same messages and the same id, or the same columns if it has none. Equal answers with other ids, users
   * or times are all kept. Default `'whole'`.
   */
  conversations: z.enum(['whole', 'each']).default('whole'),
  /** Parts of messages that are no text, such as images: `'name'` writes their type in their place: `[image_url]`. Default `'refuse'`. */
  otherParts: z.enum(['refuse', 'name']).default('refuse'),
  /** Receives each trajectory that `'whole'` leaves out: another record goes on from it, or it is a copy. Default: they are dropped. */
  onLeftOut: callback<(trajectory: Trajectory<TrafficMetadata>) => void>().optional(),
  /** Receives the error of each record that cannot be read, which is left out. Default: the first error is thrown. */
  onMalformed: callback<(error: FormatError) => void>().optional(),
});

/** Options of {@link trajectoriesFromTraffic}. */
export interface TrafficOptions extends z.input<typeof schema> {}

/** What a log says of an exchange. */
export interface TrafficMetadata {
  readonly format: TrafficFormat;
  readonly model?: string | undefined;
  /** Conversation or trace that it belongs to. */
  readonly conversation?: string | undefined;
  /** Tools that the last request offered. */
  readonly tools?: readonly ToolSchema[] | undefined;
  /** What the record says beside the exchange, such as a label: `{ request, response, rating }` has a `rating`. */
  readonly columns?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Recorded traffic as trajectories, to score, monitor and learn from.
 *
 *     const trajectories = trajectoriesFromTraffic(await readFile('log.jsonl', 'utf8'), { source: 'log.jsonl' });
 *
 * The text is JSON Lines or one JSON value. See `recordedExchanges` for the forms of records. The trajectories have messages and no
 * tokens: reinforcement learning needs a capture.
 *
 * @throws FormatError naming source, line and field of the first record that cannot be read, unless `onMalformed` is given.
 * @throws OptionsError for invalid options.
 */
export function trajectoriesFromTraffic(
  text: string,
  options: TrafficOptions = {},
): Trajectory<TrafficMetadata>[] {
  requireArguments('trajectoriesFromTraffic', { text: 'text' }, text);
  const resolved = parseOptions('trajectoriesFromTraffic', schema, options);
  const { source, conversations, otherParts, onMalformed, onLeftOut } = resolved;
  const report = (error: unknown) => {
    if (onMalformed === undefined || !(error instanceof FormatError)) throw error;
    onMalformed(error);
  };
  const found: Recorded<TrafficMetadata>[] = [];
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      report(error);
    }
  };
  for (const { place, value } of valuesOf(text, source, report)) {
    for (const { name, ...one } of attempt(() => exchangesOfRecord(value, place)) ?? []) {
      // One that cannot be read leaves the others of its record.
      attempt(() => {
        const trajectory = placed(place, () => trajectoryOfExchange(one.exchange, name, otherParts));
        found.push({ ...one, trajectory });
      });
    }
  }
  const all = found.map(({ trajectory }) => trajectory);
  const kept = conversations === 'each' ? all : wholeConversations(found);
  if (onLeftOut !== undefined) {
    const isKept = new Set(kept);
    for (const trajectory of all) if (!isKept.has(trajectory)) onLeftOut(trajectory);
  }
  return withDifferentIds(kept);
}

/** Conversations that a log gave the same id, such as that of a session, get a number behind it. */
function withDifferentIds(all: readonly Trajectory<TrafficMetadata>[]): Trajectory<TrafficMetadata>[] {
  const seen = new Map<string, number>();
  return all.map((trajectory) => {
    const times = (seen.get(trajectory.id) ?? 0) + 1;
    seen.set(trajectory.id, times);
    const id = `${trajectory.id}, ${times}`;
    return times === 1 ? trajectory : { ...trajectory, id, task: { ...trajectory.task, id } };
  });
}

/**
 * An exchange as a trajectory.
 *
 * @param name - Names it if the log gave no name.
 * @param otherParts - What becomes of parts that are no text. Default `'refuse'`.
 * @throws FormatError for messages of another shape, and for a request without an answer.
 */
export function trajectoryOfExchange(
  exchange: RecordedExchange,
  name: string,
  otherParts?: 'refuse' | 'name',
): Trajectory<TrafficMetadata> {
  requireArguments('trajectoryOfExchange', { name: 'text' }, name);
  requireFields('trajectoryOfExchange', { format: 'text', messages: 'list' }, exchange);
  const { id = '', messages, format, model, conversation, tools: offered, columns, unanswered } = exchange;
  if (unanswered !== undefined) {
    throw new FormatError(
      `trajectoryOfExchange: conversation "${id === '' ? name : id}": expected an answer to score, but ${unanswered}; leave the record out`,
    );
  }
  // Those that run on the provider's servers have no schema.
  const tools = [offered ?? []].flat().flatMap((tool) => toolSchema.safeParse(tool).data ?? []);
  const metadata = {
    format,
    ...(model !== undefined && { model }),
    ...(conversation !== undefined && { conversation }),
    ...(tools.length > 0 && { tools }),
    ...(columns !== undefined && { columns }),
  };
  return trajectoryFromMessages({ id: id === '' ? name : id, messages, otherParts, metadata });
}

/** The exchanges of a record, each with a name of its place. */
function exchangesOfRecord(value: unknown, place: string) {
  const exchanges = placed(place, () => recordedExchanges(value));
  if (exchanges === undefined) throw new FormatError(`${place}: ${unknownRecord(value)}`);
  return exchanges.map((exchange, index) => ({
    exchange,
    place: index,
    name: exchanges.length > 1 ? `${place}, ${index + 1}` : place,
  }));
}

/** Names the place in an error. */
function placed<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new FormatError(`${place}: ${messageOf(error)}`, { cause: error });
  }
}

/** The values of the text with their places. */
function* valuesOf(
  text: string,
  source: string,
  report: (error: unknown) => void,
): Generator<{ readonly place: string; readonly value: unknown }> {
  const whole = wholeValue(text);
  if (whole === undefined) {
    const lines = parseJsonLines(text, { source, onMalformed: report });
    for (const { number, value } of lines) yield { place: `${source}, line ${number}`, value };
  } else if (Array.isArray(whole)) {
    for (const [index, value] of whole.entries()) yield { place: `${source}, record ${index + 1}`, value };
  } else yield { place: source, value: whole };
}

/** The text as one value, if it is one over several lines, or an array. */
function wholeValue(text: string): unknown {
  const trimmed = text.trim();
  if (!trimmed.includes('\n') && !trimmed.startsWith('[')) return undefined;
  try {
    return JSON.parse(trimmed);
  } catch {
    return undefined;
  }
}
