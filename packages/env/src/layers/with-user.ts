import {
  callback,
  type Environment,
  type EnvironmentContext,
  EnvironmentError,
  type Message,
  messageOf,
  OptionsError,
  parseOptions,
  plural,
  promptMessages,
  requireFields,
  type State,
  settleWithin,
  type Task,
  type Termination,
  type TextGenerator,
  timerMs,
} from '@rlp/core';
import * as z from 'zod';
import { environmentMethods } from '../lift.ts';
import { type CallFormat, calledTools, callFormatSchema, withoutThinking } from '../tools/called-tools.ts';
import {
  exchanged,
  heardOf,
  innerState,
  type Keyed,
  type LayerUse,
  liftLayer,
  nothingSaid,
  opened,
  outerState,
  withExchanges,
} from './layer.ts';
import { userPrompt, userSide } from './user-side.ts';

const schema = z.strictObject({
  /** Text of the user that ends the conversation. Default `'###STOP###'`. */
  stop: z.string().min(1).default('###STOP###'),
  /** Answers of the user. The response to the last one ends the episode with the reason `turns`. Default 16. */
  maxTurns: z.int().min(1).default(16),
  /** Who opens the conversation. `'task'`: the prompt of the task is the user's first message. `'user'`: the user writes it. Default `'task'`. */
  first: z.enum(['task', 'user']).default('task'),
  /** What the user reads before their own first message. Default `'Hi! How can I help you today?'`. */
  greeting: z.string().min(1).default('Hi! How can I help you today?'),
  /**
   * Milliseconds that one answer may take. Default 12000. Keep it times the attempts below `environmentTimeoutMs` of the rollout, so that the
   * record names the user.
   */
  timeoutMs: timerMs.default(12_000),
  /** Times that a user who failed, was late or said nothing is asked again. Default 1. */
  retries: z.int().nonnegative().default(1),
  /** Characters of an answer that the policy reads. A longer one is cut. Default 20000. */
  maxCharacters: z.int().min(1).default(20_000),
  /** How the policy writes calls of the tools within, as the option `format` of `withTools`. Default `'any'`. */
  format: callFormatSchema,
  /** What the user reads of a response. Default: all but closed thoughts (`<think>…</think>`). */
  show: callback<(response: string) => string>().default(() => withoutThinking),
});

const withInstructions = schema.extend({
  instructions: callback('a function of the task'),
});

/** Options of {@link withUser}. */
export interface WithUserOptions<Metadata = unknown> extends z.input<typeof schema> {
  /** Who the user is and what they want, such as `({ metadata }) => metadata.persona`. Required. */
  readonly instructions: (task: Task<Metadata>) => string;
}

/** What {@link withUser} keeps in the state. */
export interface UserUse extends LayerUse {
  readonly instructions: string;
  /** Names the random streams of the user. */
  readonly seed: number;
  /** Answers of the user so far. */
  readonly turns: number;
  /** Times the user was asked again. */
  readonly retries: number;
  /** Why the conversation is over: the user ended it, or all turns were taken. */
  readonly over?: 'stopped' | 'turns' | undefined;
}

type Outer<S extends State> = Keyed<S, 'user', UserUse>;
type Settings = z.output<typeof schema>;

/**
 * The same environment, in which a model plays the user.
 *
 * The user answers every response that calls no tool. The environment hears only the last one, after which the user ended the
 * conversation or all turns were taken. It is then over. Tools may be inside or outside: `withTools(withUser(…), tools)`.
 *
 * Answers are drawn with a seed per state, so equal states are answered equally: the members of a group meet the same user. A user that
 * fails, hangs or says nothing is asked again, and then fails the episode with its cause. Metrics: `user/turns`, `user/retries` and
 * `user/stopped`.
 *
 * @param user - The model. `samplerGenerator` makes one of a sampler, `chatCompletionsGenerator` of `@rlp/rewards/judge` one of a server.
 * @throws OptionsError naming every problem at once.
 */
export function withUser<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  user: TextGenerator,
  options: WithUserOptions<NoInfer<Metadata>>,
): Environment<Outer<S>, Metadata, Outcome> {
  requireFields('withUser', environmentMethods, environment);
  const { instructions, ...settings } = parseOptions(
    'withUser',
    withInstructions,
    options,
    'WithUserOptions',
  );
  if (typeof user !== 'function') {
    throw new OptionsError('withUser', [
      'user: must be a function of messages to text; samplerGenerator and chatCompletionsGenerator make one',
    ]);
  }
  const brief = instructions as WithUserOptions<Metadata>['instructions'];
  const layer: Layer<S, Metadata, Outcome> = { environment, user, instructions: brief, settings };
  const lifted = liftLayer<S, 'user', UserUse, Metadata, Outcome>(environment, 'user');
  return {
    ...lifted,
    reset: (task, seed, context) => begun(layer, task, seed, context),
    updateState: (state, response, context) => answered(layer, state, response, context),
    isTerminal: (state) => state.user.over !== undefined || lifted.isTerminal(state),
    metrics: (state) => ({ ...environment.metrics?.(innerState(state, 'user')), ...metricsOf(state.user) }),
    termination: (state) =>
      terminationOf(state.user) ?? lifted.termination?.(state) ?? { reason: 'environment' },
  };
}

/** What {@link withUser} is made of. */
interface Layer<S extends State, Metadata, Outcome> {
  readonly environment: Environment<S, Metadata, Outcome>;
  readonly user: TextGenerator;
  readonly instructions: (task: Task<Metadata>) => string;
  readonly settings: Settings;
}

/** The first state. The user speaks first if the settings say so. */
async function begun<S extends State, Metadata, Outcome>(
  { environment, user, instructions, settings }: Layer<S, Metadata, Outcome>,
  task: Task<Metadata>,
  seed: number,
  context: EnvironmentContext | undefined,
): Promise<Outer<S>> {
  const state = await environment.reset(task, seed, context);
  const told = { instructions: instructions(task), seed, turns: 0, retries: 0 };
  const use: UserUse = { ...nothingSaid(state), ...told };
  const first = opened('withUser', state, 'user', use);
  if (settings.first === 'task') return first;
  const { text, retries } = await answerOf(user, use, [], settings, context?.signal);
  if (text === undefined)
    throw new EnvironmentError('withUser: the user ended before the first message; it must say at least one');
  const exchange = exchanged(environment, state, use, [{ role: 'user', content: text }]);
  return { ...first, user: { ...use, ...exchange, retries } };
}

/** The state after a response. */
async function answered<S extends State, Metadata, Outcome>(
  { environment, user, settings }: Layer<S, Metadata, Outcome>,
  state: Outer<S>,
  response: string,
  context: EnvironmentContext | undefined,
): Promise<Outer<S>> {
  const inner = innerState(state, 'user');
  const use: UserUse = state.user;
  const said = { response, stepCount: state.stepCount + 1 };
  const tell = async (change: Partial<UserUse>) => {
    const next = await environment.updateState(inner, response, context);
    return outerState(next, 'user', { ...use, ...change, ...heardOf(next) }, said);
  };
  if (callsTools(environment, inner, response, settings.format)) return tell({});
  if (use.turns >= settings.maxTurns) return tell({ over: 'turns' });
  const spoken: Message = { role: 'assistant', content: response };
  const shown = [...withExchanges(environment.buildPrompt(inner), use.exchanges), spoken];
  const { text, ...answer } = await answerOf(user, use, shown, settings, context?.signal);
  const retries = use.retries + answer.retries;
  if (text === undefined) return tell({ over: 'stopped', retries });
  const exchange = exchanged(environment, inner, use, [spoken, { role: 'user', content: text }]);
  return outerState(inner, 'user', { ...use, ...exchange, retries, turns: use.turns + 1 }, said);
}

/** Why the conversation is over, if the user's layer ended it. */
function terminationOf({ over, turns }: UserUse): Termination | undefined {
  if (over === 'turns') return { reason: 'turns', detail: `${plural(turns, 'answer')} of the user` };
  return over && { reason: 'environment', detail: 'the user ended the conversation' };
}

/** Whether a response is for the tools of the environment within. */
function callsTools<S extends State>(
  environment: Environment<S, never>,
  state: S,
  response: string,
  format: CallFormat,
): boolean {
  const offered = environment.tools?.(state) ?? [];
  return offered.length > 0 && calledTools(response, offered, format).calls.length > 0;
}

/** What the user says next, or no text if the user ends the conversation. */
async function answerOf(
  user: TextGenerator,
  { instructions, seed, turns }: UserUse,
  conversation: readonly Message[],
  settings: Settings,
  signal: AbortSignal | undefined,
): Promise<{ readonly text: string | undefined; readonly retries: number }> {
  const system: Message = { role: 'system', content: userPrompt({ instructions, stop: settings.stop }) };
  const messages = [system, ...userSide(promptMessages(conversation), settings)];
  for (let retries = 0; ; retries++) {
    const controller = new AbortController();
    try {
      const asked = user(messages, {
        seed: JSON.stringify(['user', seed, turns, retries]),
        signal: controller.signal,
      });
      const text: unknown = await settleWithin(asked, controller, { timeoutMs: settings.timeoutMs, signal });
      if (typeof text !== 'string' || text.trim() === '')
        throw new TypeError(`expected text, got ${JSON.stringify(text)}`);
      const cut = text
        .trim()
        .slice(0, settings.maxCharacters)
        .replace(/[\uD800-\uDBFF]$/, '');
      return { text: text.includes(settings.stop) ? undefined : cut, retries };
    } catch (error) {
      signal?.throwIfAborted();
      if (retries < settings.retries) continue;
      const place = `after ${plural(turns, 'answer')}, asked ${plural(retries + 1, 'time')}`;
      throw new EnvironmentError(`withUser: the simulated user failed (${place}): ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}

function metricsOf({ turns, retries, over }: UserUse): Readonly<Record<string, number>> {
  return { 'user/turns': turns, 'user/retries': retries, 'user/stopped': Number(over === 'stopped') };
}
