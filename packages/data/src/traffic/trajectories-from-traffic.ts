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

const schema = z.strictObject({
  /** Name of the log in errors and ids, such as its file. Default `'traffic'`. */
  source: z.string().min(1).default('traffic'),
  /**
   * An agent sends the whole conversation with each request. `'whole'` keeps the longest record of each conversation and no copies, `'each'` keeps all.
   * Records `{ messages }` of other conversation ids, ids or columns beside times and counts are other conversations. Default `'whole'`.
   */
  conversations: z.enum(['whole', 'each']).default('whole'),
  /** Parts of messages that are no text, such as images: `'name'` writes their type in their place: `[image_url]`. Default `'refuse'`. */
  otherParts: z.enum(['refuse', 'name']).default('refuse'),
  /** Receives each trajectory that `'whole'` leaves out: another record goes on from it, or says the same. Default: they are dropped. */
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

/** A trajectory, and whose it is: `''` unless the record names a conversation. Only those of one owner go on from each other. */
interface Recorded {
  readonly owner: string;
  readonly trajectory: Trajectory<TrafficMetadata>;
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
  const found: Recorded[] = [];
  for (const { place, value } of valuesOf(text, source, report)) {
    try {
      found.push(...trajectoriesOfRecord(value, place, otherParts));
    } catch (error) {
      report(error);
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

function trajectoriesOfRecord(value: unknown, place: string, otherParts: 'refuse' | 'name'): Recorded[] {
  const exchanges = placed(place, () => recordedExchanges(value));
  if (exchanges === undefined) {
    throw new FormatError(`${place}: ${unknownRecord(value)}`);
  }
  return exchanges.map((exchange, index) => {
    const name = exchanges.length > 1 ? `${place}, ${index + 1}` : place;
    return {
      owner: ownerOf(exchange),
      trajectory: placed(place, () => trajectoryOfExchange(exchange, name, otherParts)),
    };
  });
}

/** Columns that name a conversation, and those that differ between requests of one. */
const ofConversation = /^(?:conversation|session|thread|chat)_?id$/i;
const ofRequest =
  /(?:^|_)(?:time|timestamp|date|at|ts|latency|duration|ms|seconds|usage|tokens|cost|turn|step|index|request_?id)$/i;

/** Whose a recorded conversation is: of its conversation id, else its id, and of what it says beside times and counts. */
function ownerOf({ isConversation, id, columns = {} }: RecordedExchange): string {
  if (isConversation !== true) return '';
  const named = Object.entries(columns).map(
    ([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter}`), value] as const,
  );
  const conversation = named.find(([name]) => ofConversation.test(name))?.[1];
  const labels = named.filter(([name]) => !ofRequest.test(name) && !ofConversation.test(name));
  return JSON.stringify([conversation ?? id, labels.sort(([a], [b]) => (a < b ? -1 : 1))]);
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

/** Leaves out what a later record of the same owner goes on from, and copies. */
function wholeConversations(all: readonly Recorded[]): Trajectory<TrafficMetadata>[] {
  const kept = new Map<string, Trajectory<TrafficMetadata>>();
  const continued = new Set<string>();
  for (const { owner, trajectory } of all) {
    const messages = trajectory.messages.map(({ role, content, tool_calls: calls }) =>
      JSON.stringify([role, content, calls?.map((call) => call.function)]),
    );
    let before = `${owner}\n`;
    for (const [place, message] of messages.entries()) {
      before += `${message}\n`;
      const isEnd = place === messages.length - 1;
      if (!isEnd && trajectory.messages[place]!.role === 'assistant') {
        continued.add(before);
        kept.delete(before);
      } else if (isEnd && !continued.has(before) && !kept.has(before)) kept.set(before, trajectory);
    }
  }
  return [...kept.values()];
}
