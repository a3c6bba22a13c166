import {
  ArgumentError,
  callback,
  OptionsError,
  parseOptions,
  type State,
  type ToolSchema,
  timerMs,
} from '@rlp/core';
import * as z from 'zod';

/** What a tool may use while it runs. */
export interface ToolContext<S extends State = State> {
  /** State of the environment when the policy called. */
  readonly state: S;
  /**
   * Changes the state of the environment. Changes are applied in the order of the calls, after all calls of the turn have
   * returned, so that their order does not depend on which was faster.
   */
  update(change: (state: S) => S): void;
  /** Fires at the time limit of the tool, and when the episode is stopped. */
  readonly signal: AbortSignal;
  /** Id of the call. */
  readonly callId: string;
}

/** A function that a policy may call. Made by {@link tool}, `toolsFromAiSdk` or `toolsFromMcp`. */
export interface Tool<S extends State = State> {
  /** What the policy is told of it. */
  readonly schema: ToolSchema;
  /** What a call costs, in a unit of your choice. */
  readonly cost: number;
  /** Milliseconds that a call may take. */
  readonly timeoutMs: number;
  /**
   * Runs a call. The result is text, or a value that JSON can hold. Throws if the arguments are wrong or the work fails.
   *
   * @param args - The arguments as the policy wrote them, not checked yet.
   */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext<S>): unknown;
}

const schema = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, _, - or .'),
  description: z.string().min(1),
  parameters: z.custom<z.ZodType>((value) => value instanceof z.ZodType, 'must be a zod schema'),
  execute: callback<ToolDefinition['execute']>(),
  cost: z.number().nonnegative().default(1),
  timeoutMs: timerMs.default(10_000),
});

/** What {@link tool} makes a tool of. */
export interface ToolDefinition<Parameters extends z.ZodType = z.ZodType, S extends State = State> {
  /** What the policy calls it: 1 to 64 letters, digits, `_`, `-` or `.`. */
  readonly name: string;
  /** What it does and when to call it, for the policy. */
  readonly description: string;
  /** Schema of the arguments, a `z.object`. The policy sees it as JSON Schema. */
  readonly parameters: Parameters;
  /** Does the work. Returns text, or a value that JSON can hold. What it throws is told to the policy. */
  execute(args: z.output<Parameters>, context: ToolContext<S>): unknown;
  /** What a call costs, in a unit of your choice. Default 1. */
  readonly cost?: number | undefined;
  /** Milliseconds that a call may take. Default 10000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * A tool from a function and the schema of its arguments.
 *
 * ```ts
 * const weather = tool({
 *   name: 'weather',
 *   description: 'Weather in a city today.',
 *   parameters: z.object({ city: z.string() }),
 *   execute: ({ city }) => (city === 'Bern' ? 'rain' : 'sun'),
 * });
 * ```
 *
 * @throws OptionsError naming every problem at once.
 */
export function tool<Parameters extends z.ZodType, S extends State = State>(
  definition: ToolDefinition<Parameters, S>,
): Tool<S> {
  const { name, description, cost, timeoutMs } = parseOptions('tool', schema, definition, 'ToolDefinition');
  const { parameters, execute } = definition;
  return {
    schema: functionSchema(name, description, argumentsSchema(name, parameters)),
    cost,
    timeoutMs,
    run: async (args, context) => execute(await checkedArguments(parameters, args), context),
  };
}

/** The arguments as the schema wants them. Throws an `ArgumentError` for the policy to read. */
export async function checkedArguments<Parameters extends z.core.$ZodType>(
  parameters: Parameters,
  args: Readonly<Record<string, unknown>>,
): Promise<z.output<Parameters>> {
  const { data, error } = await z.safeParseAsync(parameters, args);
  if (error === undefined) return data as z.output<Parameters>;
  const problems = error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`);
  throw new ArgumentError(`wrong arguments: ${problems.join('; ')}`);
}

/** A tool as the policy is told of it. */
export function functionSchema(
  name: string,
  description: unknown,
  { $schema: _, ...parameters }: Readonly<Record<string, unknown>>,
): ToolSchema {
  const told = typeof description === 'string' && description !== '' ? { description } : {};
  return { type: 'function', function: { name, ...told, parameters } };
}

/** JSON Schema of the arguments of a tool. Throws an `OptionsError` if they are not an object. */
function argumentsSchema(name: string, parameters: z.ZodType): Readonly<Record<string, unknown>> {
  const json = z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' });
  if (json.type === 'object') return json;
  throw new OptionsError(`tool "${name}"`, ['parameters: must be a z.object, because arguments have names']);
}
