import {
  ArgumentError,
  described,
  type Message,
  parsedJson,
  parseOptions,
  parseToolCalls,
  passagesOf,
  type RewardFunction,
  requireArguments,
  type ToolCall,
  type ToolSchema,
  type Trajectory,
  toolListSchema,
} from '@rlp/core';
import * as z from 'zod';
import { withReader } from '../answers/reference.ts';

/** A tool call with its arguments read. */
export interface ReadToolCall {
  readonly name: string;
  /** `undefined` if the arguments are not JSON. Such a call never matches. */
  readonly arguments: unknown;
}

/**
 * All tool calls of the assistant's turns, in order: `tool_calls`, else the older `function_call`, else those in the text
 * outside thoughts, by `parseToolCalls` of `@rlp/core`: what a policy sampled is text. A broken call there is one without a name.
 *
 * @param offered - Tools that the episode offered. Without them, calls without marks, such as Llama's, are text. Default none.
 */
export function readToolCalls(
  messages: readonly Message[],
  offered: readonly ToolSchema[] = [],
): ReadToolCall[] {
  requireArguments('readToolCalls', { messages: 'objects', offered: 'objects' }, messages, offered);
  return messages.flatMap((message) =>
    callsOf(message, offered).map(({ name, arguments: text }) => ({ name, arguments: readJson(text) })),
  );
}

function callsOf(
  { role, content, tool_calls, function_call }: Message,
  offered: readonly ToolSchema[],
): readonly ToolCall['function'][] {
  if (role !== 'assistant') return [];
  // The API writes null for what there is none of.
  if (tool_calls?.length) return tool_calls.map((call) => call.function);
  if (function_call) return [function_call];
  const shown: string[] = [];
  const said = passagesOf(content).flatMap(({ kind, text }) => (kind === 'said' ? [text] : []));
  const made = said.join('').replace(asideOrCall, (part, _thought, comment, call = '', _tag, at, whole) => {
    if (call !== '' && !isShown(whole, at, at + part.length)) return call;
    if (comment || call) shown.push(part);
    return '';
  });
  const { text, calls } = parseToolCalls(made.replace(endOfTurn, ''), offered, { unknown: 'call' });
  const others = [...(text.match(brokenCall) ?? []), ...parseToolCalls(shown.join('\n')).calls];
  return [...calls.map((call) => call.function), ...others.map(() => ({ name: '', arguments: '?' }))];
}

/** Tokens of Llama that end a turn. */
const endOfTurn = /<\|e(?:om|ot)_id\|>\s*$/;

/**
 * Thoughts of models that do not write `<think>`, comments, and calls. One that does not end reaches to the end of the text. Whichever
 * begins first is read, because an argument may be a page with comments.
 */
const asideOrCall =
  /<(thinking|thought|reasoning|scratchpad)>[\s\S]*?(?:<\/\1>|$)|\[THINK\][\s\S]*?(?:\[\/THINK\]|$)|(<!--[\s\S]*?(?:-->|$))|(<(tool_call|function)\b[\s\S]*?(?:<\/\4>|$))/gi;

/**
 * Whether a call is struck out, in a block quote, or in quotation marks or backticks beside words on its line. Words around a call do not
 * count, because who calls a tool says all kinds of things ("I should not guess", "I call … and wait").
 */
function isShown(text: string, from: number, to: number): boolean {
  const near = (from > 200 ? '…' : '') + text.slice(Math.max(0, from - 200), from);
  const before = near.slice(near.lastIndexOf('\n') + 1);
  const behind = text.slice(to, to + 80);
  if (/^ {0,3}>/.test(before) || (before.endsWith('~~') && behind.startsWith('~~'))) return true;
  const isQuoted = /(?<!``)["“'`] ?$/.test(before) && /^\s?["”'’`]/.test(behind);
  return isQuoted && (/\p{L}/u.test(before) || /^[^\n]*\p{L}/u.test(behind));
}

/** What begins as a call and is none. It counts as a call that nobody expects, as does one that is shown, because servers run that. */
const brokenCall = /(?<!`)(?:<tool_call>\s*[{[]|<function=\w|\[TOOL_CALLS\]\s*[[{])/g;

/** JSON text's value. Tools without parameters may be called with nothing. */
function readJson(text: string): unknown {
  try {
    return parsedJson(text.trim() === '' ? '{}' : text);
  } catch {
    return;
  }
}

/** Values nested more deeply equal nothing. */
const maximumDepth = 200;

/**
 * Whether a JSON value equals an expected one, key order aside. With `'subset'`, whether the expected one is contained in it: objects may
 * have further keys, at every level. Values nested beyond 200 levels equal nothing.
 */
export function jsonMatches(
  given: unknown,
  expected: unknown,
  comparison: 'equal' | 'subset' = 'equal',
  depth = maximumDepth,
): boolean {
  if (depth === 0) return false;
  if (typeof given !== 'object' || typeof expected !== 'object' || given === null || expected === null) {
    return given === expected && given !== undefined;
  }
  if (Array.isArray(given) !== Array.isArray(expected)) return false;
  const [fields, wanted] = [given as Readonly<Record<string, unknown>>, Object.entries(expected)];
  const isPart = comparison === 'subset' && !Array.isArray(given);
  if (!isPart && Object.keys(fields).length !== wanted.length) return false;
  const matches = ([key, value]: [string, unknown]) =>
    Object.hasOwn(fields, key) && jsonMatches(fields[key], value, comparison, depth - 1);
  return wanted.every(matches);
}

const schema = z.strictObject({
  /** Whether arguments equal the expected ones, or contain them, see {@link jsonMatches}. Default `'equal'`. */
  comparison: z.enum(['equal', 'subset']).default('equal'),
  /** Whether the calls must come in their order. Default `'kept'`. */
  order: z.enum(['kept', 'free']).default('kept'),
  /** Whether unexpected calls lower the reward. Default `'refused'`. */
  extra: z.enum(['refused', 'allowed']).default('refused'),
  /** 1 or 0, or the share of matched calls among the expected ones (or, with `extra: 'refused'`, all calls). Default `'all'`. */
  grading: z.enum(['all', 'share']).default('all'),
});

/** Options of {@link toolCalls}. */
export interface ToolCallsOptions<Metadata> extends z.input<typeof schema> {
  /** Right calls, from the task's metadata, also as `tool_calls` has them, with arguments as JSON. The list may be empty. Required. */
  readonly expected: (metadata: Metadata) => readonly (ReadToolCall | Pick<ToolCall, 'function'>)[];
  /**
   * Tools that the episode offered, from the task's metadata. A call without marks counts if it calls one of them, or an expected one.
   * Default: `metadata.tools` if that is a list of tools.
   */
  readonly tools?: ((metadata: Metadata) => readonly ToolSchema[]) | undefined;
  /** Policy's calls. Default: those of its messages, {@link readToolCalls}. */
  readonly extract?: ((trajectory: Trajectory<Metadata>) => readonly ReadToolCall[]) | undefined;
}

/** More calls than that are not matched. */
const maximumCalls = 500;
/** An object as JSON, as the API writes arguments, is read. Other text is an argument itself. */
const argument = z.string().transform((text) => (/^\s*(?:\{|$)/.test(text) ? readJson(text) : text));
const callSchema = z.object({
  name: z.string(),
  arguments: z.union([argument, z.unknown()]).refine((read) => read !== undefined),
});
const wrapped = z.object({ function: callSchema }).transform((call) => call.function);
const expectedCalls = z.array(wrapped.or(callSchema)).max(maximumCalls);

/**
 * Whether a trajectory made the right tool calls: name, arguments as JSON, and order.
 *
 * Calls are matched one to one: in order as a longest common subsequence, in free order as a maximum matching. Where none is expected and
 * none made, 1. More than 500 calls give 0. Words around a call are not read: one that they deny counts.
 *
 * A task whose expected calls cannot be read is an error (and so unscorable).
 */
export function toolCalls<Metadata>(options: ToolCallsOptions<Metadata>): RewardFunction<Metadata> {
  const { expected, extract, tools = toolsIn, ...rest } = withReader('toolCalls', options, 'expected');
  const { comparison, order, extra, grading } = parseOptions('toolCalls', schema, rest);
  return (trajectory) => {
    const { data: wanted, error } = expectedCalls.safeParse(expected(trajectory.task.metadata));
    if (error !== undefined) {
      throw new ArgumentError(
        `toolCalls: the expected calls of task "${trajectory.task.id}" must be a list of at most ${maximumCalls} { name, arguments }, got ${described(expected(trajectory.task.metadata))}`,
      );
    }
    const named = wanted.map(({ name }) => ({ type: 'function', function: { name } }) as const);
    const offered = [...named, ...tools(trajectory.task.metadata)];
    const made = extract ? extract(trajectory) : readToolCalls(trajectory.messages, offered);
    if (made.length > maximumCalls) return 0;
    const fits = (one: number, other: number) =>
      made[one]!.name === wanted[other]!.name &&
      jsonMatches(made[one]!.arguments, wanted[other]!.arguments, comparison);
    const sizes = [made.length, wanted.length] as const;
    const matched = order === 'kept' ? matchInOrder(sizes, fits) : matchFreely(sizes, fits);
    const whole = extra === 'refused' ? Math.max(...sizes) : wanted.length;
    const share = whole === 0 ? 1 : matched / whole;
    return grading === 'share' ? share : share === 1 ? 1 : 0;
  };
}

/** The tools in the metadata of a task, as `tasksFrom` of `@rlp/data` names them. */
function toolsIn(metadata: unknown): readonly ToolSchema[] {
  const { tools } = (metadata ?? {}) as { readonly tools?: unknown };
  return toolListSchema.safeParse(tools).data ?? [];
}

type Fits = (made: number, wanted: number) => boolean;

/** Length of the longest common subsequence. */
function matchInOrder([made, wanted]: readonly [number, number], fits: Fits): number {
  let row = new Array<number>(wanted + 1).fill(0);
  for (let one = 0; one < made; one++) {
    const next = [0];
    for (let other = 0; other < wanted; other++) {
      next.push(fits(one, other) ? row[other]! + 1 : Math.max(row[other + 1]!, next[other]!));
    }
    row = next;
  }
  return row[wanted]!;
}

/** Size of a maximum matching, by augmenting paths (Kuhn). */
function matchFreely([made, wanted]: readonly [number, number], fits: Fits): number {
  const edges = Array.from({ length: made }, (_, one) =>
    Array.from({ length: wanted }, (_, other) => other).filter((other) => fits(one, other)),
  );
  const partner = new Array<number | undefined>(wanted).fill(undefined);
  const augment = (one: number, tried: Set<number>): boolean => {
    for (const other of edges[one]!) {
      if (tried.has(other)) continue;
      tried.add(other);
      const rival = partner[other];
      if (rival !== undefined && !augment(rival, tried)) continue;
      partner[other] = one;
      return true;
    }
    return false;
  };
  return edges.filter((_, one) => augment(one, new Set())).length;
}
