import {
  described,
  type Environment,
  EnvironmentError,
  isPromiseLike,
  type Message,
  messageOf,
  type State,
  settleWithin,
  type Task,
  type Termination,
  TimeoutError,
  type ToolSchema,
  withPlace,
} from '@rlp/core';
import { lazily } from './boundary.ts';
import type { View } from './context.ts';

/** What an environment says about an episode that ended. */
export interface Ending<Outcome> {
  readonly transcript?: readonly Message[] | undefined;
  readonly outcome?: Outcome | undefined;
  readonly metrics?: Readonly<Record<string, number>> | undefined;
}

/** An environment that a rollout can rely on: see {@link guarded}. */
export interface GuardedEnvironment<S extends State, Metadata, Outcome> {
  reset(task: Task<Metadata>, seed: number): Promise<S>;
  /** A state that was stored, or that a caller gave. `version` is that of the environment that made it. */
  given(state: unknown, version: string | undefined): S;
  /** @param tokens - Length of the response. */
  updateState(state: S, response: string, tokens: number): Promise<S>;
  isTerminal(state: S): Promise<boolean>;
  /** What the state shows, encoded with the tools it offers. A view that cannot be encoded is the environment's failure. */
  show<Encoded>(
    state: S,
    encode: (view: View, tools: readonly ToolSchema[] | undefined) => Encoded,
  ): Promise<{
    readonly view: View;
    readonly tools: readonly ToolSchema[] | undefined;
    readonly encoded: Encoded;
  }>;
  /** Last view of an ended episode, or `undefined` if the environment shows nothing there. */
  lastView(state: S): View | undefined;
  /** `undefined` if the environment has no keys. */
  stateKey(state: S): Promise<string | undefined>;
  /** Why a terminal state is the end. */
  termination(state: S): Promise<Termination>;
  ending(state: S): Promise<Ending<Outcome>>;
}

/** Limits on each call. */
interface Limits {
  readonly signal: AbortSignal;
  /** Milliseconds for `reset` and `updateState`. */
  readonly timeoutMs: number;
}

/**
 * Wraps an environment with checks and limits.
 *
 * An error of a method becomes an `EnvironmentError` that names the method. `reset` and `updateState` must return a state within their time
 * limit. `updateState` must not change the state it gets. Every call throws the signal's reason once aborted.
 */
export function guarded<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  { signal, timeoutMs }: Limits,
): GuardedEnvironment<S, Metadata, Outcome> {
  const call = <Result>(method: string, work: () => Result | PromiseLike<Result>) =>
    callEnvironment(method, work, { signal });
  const callState = async (method: string, work: (own: AbortController) => S | Promise<S>) =>
    checkedState(method, await callEnvironment(method, work, { signal, timeoutMs }));

  return {
    reset: (task, seed) => callState('reset', (own) => environment.reset(task, seed, lazily(own))),
    given(state, version) {
      signal.throwIfAborted();
      if (version !== undefined && version !== environment.version) {
        throw new EnvironmentError(
          `environment: cannot go on from a state of version "${version}", because this is version ` +
            `"${environment.version}": begin the episode again`,
        );
      }
      return checkedState('(the given state)', state as S);
    },
    async updateState(state, response, tokens) {
      const before = remembered(state);
      const next = await callState('updateState', (own) =>
        environment.updateState(state, response, lazily(own, { tokens })),
      );
      checkUnchanged(before, state);
      return next;
    },
    isTerminal: (state) => call('isTerminal', () => checkedEnd(environment.isTerminal(state))),
    show: (state, encode) =>
      call('buildPrompt', () => {
        const view = environment.buildPrompt(state);
        const tools = environment.tools?.(state);
        return { view, tools, encoded: encode(view, tools) };
      }),
    lastView(state) {
      try {
        return environment.buildPrompt(state);
      } catch {
        return undefined; // nobody said that a terminal state can be shown
      }
    },
    stateKey: async (state) => environment.stateKey && call('stateKey', () => environment.stateKey!(state)),
    termination: async (state) =>
      (await call('termination', () => environment.termination?.(state))) ?? { reason: 'environment' },
    ending: async (state) => ({
      transcript: await call('transcript', () => environment.transcript?.(state)),
      outcome: await call('outcome', () => environment.outcome?.(state)),
      metrics: await call('metrics', () => checkedMetrics(environment.metrics?.(state))),
    }),
  };
}

async function callEnvironment<Result>(
  method: string,
  work: (own: AbortController) => Result | PromiseLike<Result>,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs?: number },
): Promise<Result> {
  signal.throwIfAborted();
  const controller = new AbortController();
  try {
    const working = work(controller);
    // Most environments are done at once: nothing to wait for, and thousands of calls an iteration.
    if (!isPromiseLike(working)) return working;
    return await settleWithin(working, controller, { signal, timeoutMs });
  } catch (error) {
    signal.throwIfAborted();
    const isLate = error instanceof TimeoutError && controller.signal.aborted;
    const separator = isLate ? ' ' : ': ';
    throw new EnvironmentError(`environment.${method}${separator}${withPlace(messageOf(error), error)}`, {
      cause: error,
    });
  }
}

function checkedState<S extends State>(method: string, state: S): S {
  const given: unknown = state;
  if (typeof given === 'object' && given !== null && 'stepCount' in given) return state;
  throw new EnvironmentError(
    `environment.${method}: expected a state (an object with prompt, response and stepCount), got ${described(given)}`,
  );
}

/** Fields of a state, and how long its lists are. */
interface Remembered<S> {
  readonly fields: S;
  readonly lengths: ReadonlyMap<string, number>;
}

function remembered<S extends State>(state: S): Remembered<S> {
  const fields = { ...state };
  const lists = Object.entries(fields).filter(([, value]) => Array.isArray(value));
  return { fields, lengths: new Map(lists.map(([field, list]) => [field, (list as unknown[]).length])) };
}

/** A group shares its first state, so a change of it would reach the other members unseen. What is memoised in it harms nobody. */
function checkUnchanged<S extends State>({ fields, lengths }: Remembered<S>, after: S): void {
  for (const field of Object.keys(fields) as (keyof S & string)[]) {
    const isComputed = Object.getOwnPropertyDescriptor(after, field)?.get !== undefined;
    if (isComputed || fields[field] === undefined) continue;
    const now: unknown = after[field];
    const length = lengths.get(field);
    const isSame =
      Object.is(fields[field], now) && (length === undefined || (now as unknown[]).length === length);
    if (isSame) continue;
    const remedy = field === 'prompt' || field === 'response' ? 'response' : `${field}: …`;
    throw new EnvironmentError(
      `environment.updateState: expected the given state to stay as it was, got another "${field}" in it; ` +
        `return a new state, such as { ...state, ${remedy} }, because the episodes of a group share states`,
    );
  }
}

/** Checks for a boolean, because an episode without one would never end. */
function checkedEnd(isOver: boolean): boolean {
  if (typeof isOver === 'boolean' || isPromiseLike(isOver)) return isOver;
  throw new EnvironmentError(`expected true or false, got ${String(isOver)}`);
}

/** Checks that metrics are finite, because JSON cannot hold other numbers. */
function checkedMetrics(metrics: Readonly<Record<string, number>> | undefined) {
  for (const [name, value] of Object.entries(metrics ?? {})) {
    if (Number.isFinite(value)) continue;
    throw new EnvironmentError(`expected finite numbers, got ${String(value)} for "${name}"`);
  }
  return metrics;
}
