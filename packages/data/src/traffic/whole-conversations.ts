import { chatMessages, isRecord, type Trajectory } from '@rlp/core';
import { fromJsonText } from './json-text.ts';
import type { RecordedExchange } from './recorded-exchange.ts';

/** A trajectory with the exchange it was made of. */
export interface Recorded<Metadata> {
  readonly exchange: RecordedExchange;
  /** Place among the exchanges of its record: equal answers of one record are several. */
  readonly place: number;
  readonly trajectory: Trajectory<Metadata>;
}

/** Columns that name a conversation, and those that differ between requests of one. */
const ofConversation = /^(?:conversation|session|thread|chat)_?id$/i;
const ofTrace = /^trace_?id$/i;
const ofRequest = new RegExp(
  [
    /^_?(?:id|uuid|custom_id)$/,
    /(?:^|_)(?:time|timestamp|date|at|ts|created|started|ended|latency|duration|elapsed|ms|seconds|nano)$/,
    /(?:^|_)(?:usage|tokens|cost|turn|step|index|attempt|seq|(?:finish|stop)_?reason)$/,
    /(?:^|_)(?:request|response|call|span|event|log|message)_?id$/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/**
 * Leaves out copies of a record, and what another record of the same owner goes on from. A record that goes on leaves out one record
 * of each earlier state: others with the same messages are other conversations.
 */
export function wholeConversations<Metadata>(all: readonly Recorded<Metadata>[]): Trajectory<Metadata>[] {
  const found = withoutCopies(all);
  /** Trajectories by what they say, each with its place in the log. */
  const waiting = new Map<number, number[]>();
  for (const [place, { states }] of found.entries()) {
    const state = states.at(-1)!;
    const places = waiting.get(state);
    if (places === undefined) waiting.set(state, [place]);
    else places.push(place);
  }
  const leftOut = new Set<number>();
  const longestFirst = [...found.keys()].sort((a, b) => found[b]!.states.length - found[a]!.states.length);
  for (const place of longestFirst) {
    // What it goes on from is left out together with the longer one.
    if (leftOut.has(place)) continue;
    for (const state of found[place]!.states.slice(0, -1)) {
      const before = takeNearest(waiting.get(state), place);
      if (before !== undefined) leftOut.add(before);
    }
  }
  return found.filter((_, place) => !leftOut.has(place)).map(({ trajectory }) => trajectory);
}

/** Takes out the last place before `place`, or the first behind it: logs may be in any order. Places ascend. */
function takeNearest(places: number[] | undefined, place: number): number | undefined {
  if (places === undefined) return undefined;
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < place) low = middle + 1;
    else high = middle;
  }
  return places.splice(Math.max(low - 1, 0), 1)[0];
}

interface State<Metadata> {
  readonly trajectory: Trajectory<Metadata>;
  /** The conversation up to each of its messages, as numbers: equal ones of one owner have the same. */
  readonly states: readonly number[];
}

function withoutCopies<Metadata>(all: readonly Recorded<Metadata>[]): State<Metadata>[] {
  const seen = new Set<string>();
  const numberOf = numbers();
  return all.flatMap(({ exchange, place, trajectory }) => {
    let state = numberOf(ownerOf(exchange));
    const others = exchange.messages.flatMap(chatMessages).map(otherParts);
    const states = trajectory.messages.map(
      ({ role, content, tool_calls: calls, function_call: legacy }, at) => {
        const made = [
          ...(calls ?? []).map((call) => call.function),
          ...(legacy === undefined ? [] : [legacy]),
        ].map((called) => [called.name, comparable(called.arguments)]);
        state = numberOf(JSON.stringify([state, role, content, made, others[at]]));
        return state;
      },
    );
    const { id, columns } = exchange;
    const copy = JSON.stringify([state, id === undefined ? [place, inOrder(columns)] : id]);
    if (seen.has(copy)) return [];
    seen.add(copy);
    return [{ trajectory, states }];
  });
}

/** Parts that a message's text only names, such as images: those of different images are different messages. Where a cache ends says nothing. */
function otherParts(message: unknown): readonly unknown[] | undefined {
  const content = isRecord(message) ? message.content : undefined;
  const parts = Array.isArray(content) ? content.filter(isRecord) : [];
  const others = parts.filter(({ text }) => typeof text !== 'string');
  return others.length > 0 ? others.map(({ cache_control: _, ...part }) => part) : undefined;
}

/** Arguments as they are compared: programs write the same JSON with other spaces. */
function comparable(json: string): unknown {
  const value = fromJsonText(json);
  return isRecord(value) ? inOrder(value) : json;
}

/** Numbers texts, equal ones alike. */
function numbers(): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const number = known.get(text) ?? known.size;
    known.set(text, number);
    return number;
  };
}

/** Whose a conversation is: of its conversation, else of its id if it was written down as a whole, and of its labels and user. */
function ownerOf({ isConversation, id, conversation, owner, columns = {} }: RecordedExchange): string {
  const { metadata, ...beside } = columns;
  const nested = typeof metadata === 'object' && metadata !== null ? metadata : { metadata };
  const named = Object.entries({ ...beside, ...nested, ...owner })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter}`), value] as const);
  const find = (form: RegExp) => named.find(([name]) => form.test(name))?.[1];
  // Each request of a session may be a trace of its own.
  const stated = conversation ?? find(ofConversation) ?? find(ofTrace);
  const labels = named.filter(
    ([name]) => ![ofRequest, ofConversation, ofTrace].some((form) => form.test(name)),
  );
  const whole = stated ?? (isConversation === true ? id : undefined);
  return JSON.stringify([isConversation === true, whole, inOrder(Object.fromEntries(labels))]);
}

function inOrder(columns: object = {}): unknown {
  return Object.entries(columns).sort(([a], [b]) => (a < b ? -1 : 1));
}
