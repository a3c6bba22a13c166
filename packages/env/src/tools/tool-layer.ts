import {
  type Environment,
  type EnvironmentContext,
  EnvironmentError,
  type Message,
  plural,
  type State,
  type ToolCall,
  type ToolSchema,
} from '@rlp/core';
import * as z from 'zod';
import {
  exchanged,
  heardOf,
  innerState,
  type Keyed,
  liftLayer,
  nothingSaid,
  opened,
  outerState,
} from '../layers/layer.ts';
import { calledTools, callFormatSchema } from './called-tools.ts';
import { changedBy } from './changed-state.ts';
import { type CallResult, runCall } from './run-call.ts';
import type { Tool } from './tool.ts';
import type { ToolUse } from './tool-use.ts';
import { requireOtherNames, toolsByName } from './tools-by-name.ts';

/** Schema of `WithToolsOptions`. */
export const toolLayerSchema = z.strictObject({
  /** Calls that an episode may make. Further ones are refused. Default 32. */
  maxCalls: z.int().min(1).default(32),
  /** Calls that one response may make. Further ones are refused. Default 8. */
  maxCallsPerTurn: z.int().min(1).default(8),
  /** Cost of calls that an episode may spend. A call that would exceed it is refused. Default no limit. */
  budget: z.number().nonnegative().optional(),
  /**
   * What happens once all calls or the whole budget are spent. `'tell'` refuses further calls, and the policy can still answer. `'end'`
   * ends the episode with the reason `budget`. Default `'tell'`.
   */
  whenSpent: z.enum(['tell', 'end']).default('tell'),
  /** What happens if a call fails. `'tell'` lets the policy read the error. `'fail'` fails the episode. Default `'tell'`. */
  onError: z.enum(['tell', 'fail']).default('tell'),
  /** How the policy writes calls. Default `'any'`, which goes by the marks in the response. See `parseToolCalls` of `@rlp/core`. */
  format: callFormatSchema,
  /** Characters of a result that the policy reads. A longer one is cut. Default 20000. */
  maxResultCharacters: z.int().min(1).default(20_000),
});

/** How a {@link ToolLayer} behaves. */
export interface ToolLayerSettings<Key extends string> extends z.output<typeof toolLayerSchema> {
  /** Function of the layer, for errors. */
  readonly owner: string;
  /** Field of the state. */
  readonly key: Key;
  /** Whether the calls of one response run at the same time or one after the other. */
  readonly order: 'together' | 'in-order';
}

/** What each call of a response is answered with. */
interface Answer<S extends State> extends CallResult<S> {
  readonly call: ToolCall;
  readonly isRun: boolean;
}

/** An environment with tools under one key of the state. */
export class ToolLayer<S extends State, Metadata, Outcome, Key extends string> {
  readonly #environment: Environment<S, Metadata, Outcome>;
  readonly #tools: ReadonlyMap<string, Tool<S>>;
  readonly #settings: ToolLayerSettings<Key>;

  /** @throws OptionsError if there is no tool, or two have one name. */
  constructor(
    environment: Environment<S, Metadata, Outcome>,
    tools: readonly Tool<S>[],
    settings: ToolLayerSettings<Key>,
  ) {
    this.#environment = environment;
    this.#tools = toolsByName(settings.owner, tools);
    this.#settings = settings;
  }

  environment(): Environment<Keyed<S, Key, ToolUse>, Metadata, Outcome> {
    const environment = this.#environment;
    const { key, owner } = this.#settings;
    const inner = (state: Keyed<S, Key, ToolUse>) => innerState(state, key);
    const lifted = liftLayer<S, Key, ToolUse, Metadata, Outcome>(environment, key);
    return {
      ...lifted,
      reset: async (task, seed, context) => {
        const state = await environment.reset(task, seed, context);
        requireOtherNames(owner, [...this.#tools.keys()], environment, state);
        return opened(owner, state, key, { ...nothingSaid(state), calls: 0, errors: 0, spent: 0 });
      },
      updateState: (state, response, context) => this.update(state, response, context),
      isTerminal: (state) => lifted.isTerminal(state) || this.#isSpent(state[key]),
      tools: (state) => this.#offered(inner(state)),
      metrics: (state) => ({ ...environment.metrics?.(inner(state)), ...this.#metrics(state[key]) }),
      termination: (state) => {
        const { calls, spent } = state[key];
        if (this.#isSpent(state[key])) {
          return { reason: 'budget', detail: `${key}: ${plural(calls, 'call')}, cost ${spent}` };
        }
        return lifted.termination?.(state) ?? { reason: 'environment' };
      },
    };
  }

  /** The state after a response. Runs the calls in it if they are for this layer. */
  async update(
    state: Keyed<S, Key, ToolUse>,
    response: string,
    context: EnvironmentContext | undefined,
  ): Promise<Keyed<S, Key, ToolUse>> {
    const { key } = this.#settings;
    const inner = innerState(state, key);
    const use: ToolUse = state[key];
    const said = { response, stepCount: state.stepCount + 1 };
    const { text, calls } = this.#calls(inner, response);
    if (!this.#isMine(calls)) {
      const next = await this.#environment.updateState(inner, response, context);
      return outerState(next, key, { ...use, ...heardOf(next) }, said);
    }
    const named = calls.map((call, index) => ({ ...call, id: callId(call, use, index) }));
    const answers = await this.#answers(named, { inner, use, signal: context?.signal });
    const changed = changedBy(answers, inner);
    const messages = messagesOf(text, answers);
    const exchange = exchanged(this.#environment, inner, use, messages);
    return outerState(changed, key, { ...use, ...exchange, ...counted(use, answers) }, said);
  }

  /** Whether this layer answers a response. */
  answers(state: Keyed<S, Key, ToolUse>, response: string): boolean {
    return this.#isMine(this.#calls(innerState(state, this.#settings.key), response).calls);
  }

  #offered(inner: S): readonly ToolSchema[] {
    const own = [...this.#tools.values()].map((tool) => tool.schema);
    return [...own, ...(this.#environment.tools?.(inner) ?? [])];
  }

  #calls(inner: S, response: string) {
    return calledTools(response, this.#offered(inner), this.#settings.format);
  }

  /** Whether these calls are answered here. Calls of no tool that exists are answered by the innermost tools. */
  #isMine(calls: readonly ToolCall[]): boolean {
    if (calls.length === 0) return false;
    return this.#environment.tools === undefined || calls.some((call) => this.#tools.has(call.function.name));
  }

  /** Answers of all calls, in order. */
  async #answers(calls: readonly ToolCall[], turn: ToolTurn<S>): Promise<readonly Answer<S>[]> {
    const others = new Set(this.#environment.tools?.(turn.inner).map((tool) => tool.function.name));
    let { calls: made, spent } = turn.use;
    const answers: (Promise<Answer<S>> | Answer<S>)[] = [];
    for (const [index, call] of calls.entries()) {
      const tool = this.#tools.get(call.function.name);
      const isOther = others.has(call.function.name);
      const refusal = this.#refusal(tool, { made, spent, index, isOther });
      if (tool === undefined || refusal !== undefined) {
        answers.push(refused(call, refusal!));
        continue;
      }
      made += 1;
      spent += tool.cost;
      const answer = this.#run(tool, call, turn);
      answers.push(this.#settings.order === 'together' ? answer : await answer);
    }
    return Promise.all(answers);
  }

  async #run(tool: Tool<S>, call: ToolCall, { inner, signal }: ToolTurn<S>): Promise<Answer<S>> {
    const { maxResultCharacters, onError } = this.#settings;
    const result = await runCall(tool, call, inner, { signal, maxResultCharacters });
    if (result.error === undefined || onError === 'tell') return { call, isRun: true, ...result };
    throw new EnvironmentError(`tool "${call.function.name}": ${result.content}`, { cause: result.error });
  }

  /** Why a call may not run, for the policy to read. */
  #refusal(
    tool: Tool<S> | undefined,
    { made, spent, index, isOther }: Standing & { readonly isOther: boolean },
  ): string | undefined {
    const { maxCalls, maxCallsPerTurn, budget = Number.POSITIVE_INFINITY } = this.#settings;
    const names = [...this.#tools.keys()].join(', ');
    if (isOther) return `call this tool in another response than ${names}`;
    if (tool === undefined) return `there is no such tool. Tools: ${names}`;
    if (index >= maxCallsPerTurn) return `at most ${plural(maxCallsPerTurn, 'call')} in one response`;
    if (made >= maxCalls) return `all ${maxCalls} calls are used up. Answer without calling`;
    if (spent + tool.cost > budget) return `the budget of ${budget} does not cover this call (${tool.cost})`;
    return undefined;
  }

  /** Whether nothing can be called any more, where that ends the episode. */
  #isSpent({ calls, spent }: ToolUse): boolean {
    const { whenSpent, maxCalls, budget = Number.POSITIVE_INFINITY } = this.#settings;
    if (whenSpent === 'tell') return false;
    const cheapest = Math.min(...[...this.#tools.values()].map(({ cost }) => cost));
    return calls >= maxCalls || spent + cheapest > budget;
  }

  #metrics({ calls, errors, spent }: ToolUse): Readonly<Record<string, number>> {
    const { budget, key } = this.#settings;
    const counts = { calls, errors, spent, ...(budget !== undefined && { budget }) };
    return Object.fromEntries(Object.entries(counts).map(([name, value]) => [`${key}/${name}`, value]));
  }
}

/** What the calls of a response run on. */
interface ToolTurn<S extends State> {
  readonly inner: S;
  readonly use: ToolUse;
  readonly signal: AbortSignal | undefined;
}

/** What was called before a call. */
interface Standing {
  readonly made: number;
  readonly spent: number;
  /** Place of the call in its response. */
  readonly index: number;
}

function refused<S extends State>(call: ToolCall, reason: string): Answer<S> {
  return { call, isRun: false, content: `Error: ${reason}.`, changes: [], cost: 0, error: reason };
}

/** The response and the answers as messages. */
function messagesOf<S extends State>(text: string, answers: readonly Answer<S>[]): readonly Message[] {
  return [
    { role: 'assistant', content: text, tool_calls: answers.map(({ call }) => call) },
    ...answers.map(
      ({ call, content }): Message => ({
        role: 'tool',
        name: call.function.name,
        tool_call_id: call.id,
        content,
      }),
    ),
  ];
}

function counted<S extends State>(use: ToolUse, answers: readonly Answer<S>[]) {
  return {
    calls: use.calls + answers.filter(({ isRun }) => isRun).length,
    errors: use.errors + answers.filter(({ error }) => error !== undefined).length,
    spent: use.spent + answers.reduce((sum, { cost }) => sum + cost, 0),
  };
}

/** Alphanumeric and nine characters long, as some chat templates demand, unless the policy gave the call an id. */
function callId({ id }: ToolCall, { exchanges }: ToolUse, index: number): string {
  const before = exchanges.reduce((sum, { messages }) => sum + messages.length - 1, 0);
  return /^call_\d+$/.test(id) ? `call${String(before + index).padStart(5, '0')}` : id;
}
