import { ArgumentError, isRecord, messageOf, type State, settleWithin, type ToolCall } from '@rlp/core';
import type { Tool } from './tool.ts';

/** A change that a tool asked for. */
type Change<S extends State> = (state: S) => S;

/** What came of a call. */
export interface CallResult<S extends State> {
  /** What the policy reads. */
  readonly content: string;
  /** Changes of the state, in the order the tool made them. None if the call failed. */
  readonly changes: readonly Change<S>[];
  /** What the call costs. A call that failed costs as much as one that did not. */
  readonly cost: number;
  /** Why the call failed. */
  readonly error?: unknown;
}

/** Limits of a call. */
export interface CallLimits {
  readonly signal: AbortSignal | undefined;
  /** Characters of a result that the policy reads. What is longer is cut. */
  readonly maxResultCharacters: number;
}

/**
 * Runs a call within the tool's time limit. Whatever the tool does becomes a result that the policy can read. Throws the
 * signal's reason once aborted.
 */
export async function runCall<S extends State>(
  tool: Tool<S>,
  call: ToolCall,
  state: S,
  { signal, maxResultCharacters }: CallLimits,
): Promise<CallResult<S>> {
  const changes: Change<S>[] = [];
  const controller = new AbortController();
  let isOver = false;
  const update = (change: Change<S>) => {
    if (isOver) throw new ArgumentError('update: the call has ended; change the state before it returns');
    changes.push(change);
  };
  try {
    const args: unknown = JSON.parse(call.function.arguments);
    if (!isRecord(args)) throw new ArgumentError('wrong arguments: expected an object');
    const context = { state, update, signal: controller.signal, callId: call.id };
    const working = Promise.resolve(tool.run(args, context));
    const result = await settleWithin(working, controller, { timeoutMs: tool.timeoutMs, signal });
    return { content: cut(asText(result), maxResultCharacters), changes, cost: tool.cost };
  } catch (error) {
    signal?.throwIfAborted();
    const content = cut(`Error: ${messageOf(error)}`, maxResultCharacters);
    return { content, changes: [], cost: tool.cost, error };
  } finally {
    isOver = true;
  }
}

function asText(result: unknown): string {
  if (typeof result === 'string') return result;
  if (result === undefined || result === null) return 'null';
  if (Number.isNaN(result) || isLostInJson(result)) {
    throw new TypeError(`the tool returned ${nameOf(result)}, expected text or JSON`);
  }
  try {
    return JSON.stringify(result);
  } catch (error) {
    throw new TypeError(`the tool returned what JSON cannot hold: ${messageOf(error)}`, { cause: error });
  }
}

/** Functions, symbols and BigInts, and objects that JSON would show as `{}` or as numbered bytes, such as maps and responses. */
function isLostInJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return !['number', 'boolean'].includes(typeof value);
  if (ArrayBuffer.isView(value)) return true;
  return !isPlain(value) && Object.keys(value).length === 0 && !('toJSON' in value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}

function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' ? 'NaN' : `a ${typeof value}`;
  return `a ${value.constructor.name}`;
}

/** Cut between characters, never within one. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\uD800-\uDBFF]/.test(text[limit - 1] ?? '') ? limit - 1 : limit;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}
