import {
  type Environment,
  type EnvironmentContext,
  EnvironmentError,
  type Message,
  OptionsError,
  parseOptions,
  parseToolCalls,
  promptMessages,
  type State,
  type ToolCall,
  type ToolSchema,
  toolCallFormatNames,
} from '@rlp/core';
import * as z from 'zod';
import { lift } from '../lift.ts';
import { type CallResult, runCall } from './run-call.ts';
import type { Tool } from './tool.ts';
import { type Exchange, type ToolUse, withExchanges } from './tool-use.ts';

const schema = z.strictObject({
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
  format: z.enum(['any', ...toolCallFormatNames]).default('any'),
  /** Characters of a result that the policy reads. A longer one is cut. Default 20000. */
  maxResultCharacters: z.int().min(1).default(20_000),
});

/** Options of {@link withTools}. */
export interface WithToolsOptions extends z.input<typeof schema> {}

/** State of an environment with tools: its own state, and what the episode did with the tools. */
export type WithToolUse<S extends State, Key extends string = 'tools'> = S & {
  readonly [Name in Key]: ToolUse;
};

/**
 * The same environment, in which the policy can call tools.
 *
 * A response that calls tools is answered with their results, one `tool` message per call. The environment itself does not hear of
 * it. A response without calls goes to the environment. Calls of one response run at the same time. A call of a tool that does not exist, with
 * wrong arguments, that throws or takes too long is answered with an error that the policy can read.
 *
 * The prompt becomes messages, so a rollout needs a chat renderer. It shows the tools to the chat template. What happened is in the
 * state under `tools`, as values, so episodes can be forked and stored. Metrics: `tools/calls`, `tools/errors`, `tools/spent` and, if there
 * is one, `tools/budget`.
 *
 * @throws `OptionsError` naming every problem at once.
 */
export function withTools<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  tools: readonly Tool<NoInfer<S>>[],
  options: WithToolsOptions = {},
): Environment<WithToolUse<S>, Metadata, Outcome> {
  const resolved = parseOptions('withTools', schema, options, 'WithToolsOptions');
  return new ToolLayer(environment, toolsByName('withTools', tools), resolved, 'tools').environment();
}

/**
 * The same environment, in which the policy can have its work checked, at a price.
 *
 * Like {@link withTools}, under the key `verification`: metrics are `verification/spent` and `verification/budget`, which
 * `SVRLRewardComputer` of `@rlp/rewards` charges for.
 *
 * @param options.budget - Cost of checks that an episode may spend. Required.
 */
export function withVerification<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  tools: readonly Tool<NoInfer<S>>[],
  options: WithToolsOptions & { readonly budget: number },
): Environment<WithToolUse<S, 'verification'>, Metadata, Outcome> {
  const resolved = parseOptions(
    'withVerification',
    schema.required({ budget: true }),
    options,
    'WithToolsOptions',
  );
  return new ToolLayer(
    environment,
    toolsByName('withVerification', tools),
    resolved,
    'verification',
  ).environment();
}

/** The tools by name. Throws an `OptionsError` if there is none, or two have one name. */
function toolsByName<S extends State>(
  owner: string,
  tools: readonly Tool<S>[],
): ReadonlyMap<string, Tool<S>> {
  const names = tools.map((tool) => tool.schema.function.name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (tools.length === 0) throw new OptionsError(owner, ['tools: expected at least one']);
  if (twice !== undefined) throw new OptionsError(owner, [`tools: two have the name "${twice}"`]);
  return new Map(tools.map((tool) => [tool.schema.function.name, tool]));
}

/** What each call of a response is answered with. */
interface Answer<S extends State> extends CallResult<S> {
  readonly call: ToolCall;
  readonly isRun: boolean;
}

/** An environment with tools under one key of the state. */
class ToolLayer<S extends State, Metadata, Outcome, Key extends string> {
  readonly #environment: Environment<S, Metadata, Outcome>;
  readonly #tools: ReadonlyMap<string, Tool<S>>;
  readonly #options: z.output<typeof schema>;
  readonly #key: Key;

  constructor(
    environment: Environment<S, Metadata, Outcome>,
    tools: ReadonlyMap<string, Tool<S>>,
    options: z.output<typeof schema>,
    key: Key,
  ) {
    this.#environment = environment;
    this.#tools = tools;
    this.#options = options;
    this.#key = key;
  }

  environment(): Environment<WithToolUse<S, Key>, Metadata, Outcome> {
    const environment = this.#environment;
    const inner = (state: WithToolUse<S, Key>) => this.#inner(state);
    const { transcript, stateKey, termination } = environment;
    return {
      ...lift(environment, inner),
      reset: async (task, seed, context) => this.#opened(await environment.reset(task, seed, context)),
      buildPrompt: (state) =>
        withExchanges(environment.buildPrompt(inner(state)), this.#use(state).exchanges),
      updateState: (state, response, context) => this.#update(state, response, context),
      isTerminal: (state) => this.#isSpent(state) || environment.isTerminal(inner(state)),
      tools: (state) => [...this.#schemas(), ...(environment.tools?.(inner(state)) ?? [])],
      metrics: (state) => ({ ...environment.metrics?.(inner(state)), ...this.#metrics(this.#use(state)) }),
      termination: (state) =>
        this.#isSpent(state)
          ? {
              reason: 'budget',
              detail: `${this.#key}: ${this.#use(state).calls} calls, cost ${this.#use(state).spent}`,
            }
          : (termination?.call(environment, inner(state)) ?? { reason: 'environment' }),
      ...(transcript && {
        transcript: (state) =>
          withExchanges(transcript.call(environment, inner(state)), this.#use(state).exchanges),
      }),
      ...(stateKey && {
        stateKey: (state) =>
          JSON.stringify([stateKey.call(environment, inner(state)), this.#use(state).exchanges]),
      }),
    };
  }

  #use(state: WithToolUse<S, Key>): ToolUse {
    return state[this.#key];
  }

  /** The state as the environment itself knows it. */
  #inner(state: WithToolUse<S, Key>): S {
    const { [this.#key]: use, ...own } = state;
    return { ...own, ...(use as ToolUse).heard } as unknown as S;
  }

  #opened(state: S): WithToolUse<S, Key> {
    if (Object.hasOwn(state, this.#key)) {
      throw new EnvironmentError(
        `the state has a field "${this.#key}" already: pass all tools to one call, or rename the field of the environment`,
      );
    }
    const { response, stepCount } = state;
    const use: ToolUse = { exchanges: [], calls: 0, errors: 0, spent: 0, heard: { response, stepCount } };
    return this.#outer(state, use, { response, stepCount });
  }

  #outer(state: S, use: ToolUse, said: Pick<State, 'response' | 'stepCount'>): WithToolUse<S, Key> {
    return { ...state, ...said, [this.#key]: use } as WithToolUse<S, Key>;
  }

  async #update(
    state: WithToolUse<S, Key>,
    response: string,
    context: EnvironmentContext | undefined,
  ): Promise<WithToolUse<S, Key>> {
    const inner = this.#inner(state);
    const use = this.#use(state);
    const said = { response, stepCount: state.stepCount + 1 };
    const offered = [...this.#schemas(), ...(this.#environment.tools?.(inner) ?? [])];
    const { format } = this.#options;
    const { text, calls } = parseToolCalls(response, offered, { format, unknown: 'call' });
    if (!this.#isMine(calls)) {
      const next = await this.#environment.updateState(inner, response, context);
      const heard = { response: next.response, stepCount: next.stepCount };
      return this.#outer(next, { ...use, heard }, said);
    }
    const answers = await this.#answers(
      calls.map((call, index) => ({ ...call, id: callId(call, use, index) })),
      { inner, use, signal: context?.signal },
    );
    const changed = answers.flatMap(({ changes }) => changes).reduce((now, change) => change(now), inner);
    const after = promptMessages(this.#environment.buildPrompt(inner)).length;
    return this.#outer(changed, counted(use, { after, messages: exchanged(text, answers) }, answers), said);
  }

  #schemas(): readonly ToolSchema[] {
    return [...this.#tools.values()].map((tool) => tool.schema);
  }

  /** Whether these calls are answered here. Calls of no tool that exists are answered by the innermost tools. */
  #isMine(calls: readonly ToolCall[]): boolean {
    if (calls.length === 0) return false;
    return this.#environment.tools === undefined || calls.some((call) => this.#tools.has(call.function.name));
  }

  /** Answers of all calls, in order. Calls that may run do so at the same time. */
  async #answers(calls: readonly ToolCall[], turn: ToolTurn<S>): Promise<readonly Answer<S>[]> {
    let { calls: made, spent } = turn.use;
    const answers = calls.map((call, index): Promise<Answer<S>> | Answer<S> => {
      const tool = this.#tools.get(call.function.name);
      const refusal = this.#refusal(tool, { made, spent, index });
      if (tool === undefined || refusal !== undefined) return refused(call, refusal!);
      made += 1;
      spent += tool.cost;
      return this.#run(tool, call, turn);
    });
    return Promise.all(answers);
  }

  async #run(tool: Tool<S>, call: ToolCall, { inner, signal }: ToolTurn<S>): Promise<Answer<S>> {
    const { maxResultCharacters, onError } = this.#options;
    const result = await runCall(tool, call, inner, { signal, maxResultCharacters });
    if (result.error === undefined || onError === 'tell') return { call, isRun: true, ...result };
    throw new EnvironmentError(`tool "${call.function.name}": ${result.content}`, { cause: result.error });
  }

  /** Why a call may not run, for the policy to read. */
  #refusal(
    tool: Tool<S> | undefined,
    { made, spent, index }: { readonly made: number; readonly spent: number; readonly index: number },
  ): string | undefined {
    const { maxCalls, maxCallsPerTurn, budget = Number.POSITIVE_INFINITY } = this.#options;
    if (tool === undefined) return `there is no such tool. Tools: ${[...this.#tools.keys()].join(', ')}`;
    if (index >= maxCallsPerTurn) return `at most ${maxCallsPerTurn} calls in one response`;
    if (made >= maxCalls) return `all ${maxCalls} calls are used up. Answer without calling`;
    if (spent + tool.cost > budget) return `the budget of ${budget} does not cover this call (${tool.cost})`;
    return undefined;
  }

  /** Whether nothing can be called any more, where that ends the episode. */
  #isSpent(state: WithToolUse<S, Key>): boolean {
    const { whenSpent, maxCalls, budget = Number.POSITIVE_INFINITY } = this.#options;
    const { calls, spent } = this.#use(state);
    if (whenSpent === 'tell') return false;
    const cheapest = Math.min(...[...this.#tools.values()].map(({ cost }) => cost));
    return calls >= maxCalls || spent + cheapest > budget;
  }

  #metrics({ calls, errors, spent }: ToolUse): Readonly<Record<string, number>> {
    const { budget } = this.#options;
    const counts = { calls, errors, spent, ...(budget !== undefined && { budget }) };
    return Object.fromEntries(Object.entries(counts).map(([name, value]) => [`${this.#key}/${name}`, value]));
  }
}

/** What the calls of a response run on. */
interface ToolTurn<S extends State> {
  readonly inner: S;
  readonly use: ToolUse;
  readonly signal: AbortSignal | undefined;
}

function refused<S extends State>(call: ToolCall, reason: string): Answer<S> {
  return { call, isRun: false, content: `Error: ${reason}.`, changes: [], cost: 0, error: reason };
}

/** The response and the answers as messages. */
function exchanged<S extends State>(text: string, answers: readonly Answer<S>[]): readonly Message[] {
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

function counted<S extends State>(use: ToolUse, exchange: Exchange, answers: readonly Answer<S>[]): ToolUse {
  return {
    ...use,
    exchanges: [...use.exchanges, exchange],
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
