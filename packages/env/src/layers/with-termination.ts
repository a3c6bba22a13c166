import {
  callback,
  type Environment,
  type EnvironmentContext,
  EnvironmentError,
  type Message,
  parseOptions,
  patternSchema,
  patternTermination,
  type State,
  type Termination,
  type ToolSchema,
} from '@rlp/core';
import * as z from 'zod';
import { calledTools, callFormatSchema } from '../tools/called-tools.ts';
import { requireOtherNames } from '../tools/tools-by-name.ts';
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
} from './layer.ts';

const schema = z
  .strictObject({
    /** Regular expression. A response that matches it ends the episode with the reason `pattern`. Default none. */
    pattern: patternSchema.optional(),
    /** Name of a tool that ends the episode with the reason `terminate`. The policy sees it among its tools. Default none. */
    tool: z
      .string()
      .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, _, - or .')
      .optional(),
    /** What the policy is told about that tool. Default `'Ends the task. Call it alone, once you are done.'`. */
    toolDescription: z.string().min(1).default('Ends the task. Call it alone, once you are done.'),
    /** How the policy writes calls, as the option `format` of `withTools`. Default `'any'`. */
    format: callFormatSchema,
    /** Sampled tokens after which the episode ends with the reason `tokens`. Default no limit. */
    maxTokens: z.int().min(1).optional(),
    /** Counts the tokens of a response. Default: the rollout's count, which is exact. */
    countTokens: callback<(response: string) => number>().optional(),
  })
  .refine(({ pattern, tool, maxTokens }) => pattern ?? tool ?? maxTokens, {
    message: 'give pattern, tool or maxTokens',
  });

/** Options of {@link withTermination}. */
export interface TerminationOptions extends z.input<typeof schema> {}

/** What {@link withTermination} keeps in the state. */
export interface TerminationUse extends LayerUse {
  /** Tokens sampled so far, if they are limited. */
  readonly tokens: number;
  /** How the episode ended here. */
  readonly ended?: Termination | undefined;
}

type Outer<S extends State> = Keyed<S, 'termination', TerminationUse>;

/**
 * The same environment, which also ends when a response matches a pattern, when the policy calls a tool to end it, or when it has
 * sampled so many tokens. If the environment ends by itself, its own reason counts.
 *
 * A response that calls the tool is not told to the environment. Arguments of the call are the `detail` of the termination, and the
 * step's action is `terminate` in `StepData`. `Task.terminationPattern` is the same pattern for a single task.
 *
 * @throws OptionsError naming every problem at once.
 */
export function withTermination<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  options: TerminationOptions,
): Environment<Outer<S>, Metadata, Outcome> {
  const settings = parseOptions('withTermination', schema, options, 'TerminationOptions');
  const inner = (state: Outer<S>) => innerState(state, 'termination');
  const lifted = liftLayer<S, 'termination', TerminationUse, Metadata, Outcome>(environment, 'termination');
  const offered = settings.tool === undefined ? [] : [toolOf(settings.tool, settings.toolDescription)];
  return {
    ...lifted,
    // A prompt of text stays text if no call can end the episode.
    ...(settings.tool === undefined && {
      buildPrompt: (state: Outer<S>) => environment.buildPrompt(inner(state)),
    }),
    reset: async (task, seed, context) => {
      const state = await environment.reset(task, seed, context);
      if (settings.tool !== undefined)
        requireOtherNames('withTermination', [settings.tool], environment, state);
      return opened('withTermination', state, 'termination', { ...nothingSaid(state), tokens: 0 });
    },
    updateState: (state, response, context) =>
      answered({ environment, settings, offered }, state, response, context),
    isTerminal: (state) => state.termination.ended !== undefined || lifted.isTerminal(state),
    termination: (state) => {
      const { ended } = state.termination;
      if (ended !== undefined && !lifted.isTerminal(state)) return ended;
      return lifted.termination?.(state) ?? ended ?? { reason: 'environment' };
    },
    ...((offered.length > 0 || environment.tools) && {
      tools: (state: Outer<S>) => [...offered, ...(environment.tools?.(inner(state)) ?? [])],
    }),
  };
}

/** What {@link withTermination} is made of. */
interface Layer<S extends State, Metadata, Outcome> {
  readonly environment: Environment<S, Metadata, Outcome>;
  readonly settings: z.output<typeof schema>;
  readonly offered: readonly ToolSchema[];
}

/** The state after a response. */
async function answered<S extends State, Metadata, Outcome>(
  { environment, settings, offered }: Layer<S, Metadata, Outcome>,
  state: Outer<S>,
  response: string,
  context: EnvironmentContext | undefined,
): Promise<Outer<S>> {
  const inner = innerState(state, 'termination');
  const said = { response, stepCount: state.stepCount + 1 };
  const tokens = state.termination.tokens + tokensOf(settings, response, context);
  const use: TerminationUse = { ...state.termination, tokens };
  const all = [...offered, ...(environment.tools?.(inner) ?? [])];
  const call = finishingCall(settings, response, all);
  if (call !== undefined) {
    const exchange = exchanged(environment, inner, use, [call.message]);
    const ended: Termination = { reason: 'terminate', detail: call.detail };
    return outerState(inner, 'termination', { ...use, ...exchange, ended }, said);
  }
  const next = await environment.updateState(inner, response, context);
  const ended = endOf(settings, response, tokens);
  return outerState(next, 'termination', { ...use, ...heardOf(next), ...(ended && { ended }) }, said);
}

/** How a response ends the episode that the environment has heard. */
function endOf(
  { pattern, maxTokens = Number.POSITIVE_INFINITY }: z.output<typeof schema>,
  response: string,
  tokens: number,
): Termination | undefined {
  const matched = patternTermination(pattern, response);
  return (
    matched ??
    (tokens < maxTokens ? undefined : { reason: 'tokens', detail: `${tokens} of ${maxTokens} tokens` })
  );
}

function tokensOf(
  { maxTokens, countTokens }: z.output<typeof schema>,
  response: string,
  context: EnvironmentContext | undefined,
): number {
  if (maxTokens === undefined) return 0;
  const tokens = countTokens?.(response) ?? context?.tokens;
  if (tokens !== undefined && tokens >= 0) return tokens;
  throw new EnvironmentError(
    `withTermination: expected the number of tokens of the response, got ${tokens}: run it by a rollout, or pass countTokens`,
  );
}

function toolOf(name: string, description: string): ToolSchema {
  const parameters = { type: 'object', properties: { answer: { type: 'string' } } };
  return { type: 'function', function: { name, description, parameters } };
}

/** What the policy said to end the episode. */
interface FinishingCall {
  readonly message: Message;
  /** Arguments of the call. */
  readonly detail: string;
}

/** The call that ends the episode, if a response makes it and no other. */
function finishingCall(
  { tool, format }: z.output<typeof schema>,
  response: string,
  offered: readonly ToolSchema[],
): FinishingCall | undefined {
  if (tool === undefined) return undefined;
  const { text, calls } = calledTools(response, offered, format);
  const [call, ...others] = calls;
  if (call?.function.name !== tool || others.length > 0) return undefined;
  const message = { role: 'assistant', content: text, tool_calls: [call] } as const;
  return { message, detail: call.function.arguments };
}
