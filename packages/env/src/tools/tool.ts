import {
  ArgumentError,
  callback,
  described,
  isRecord,
  messageOf,
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
  parameters: z.custom<ToolParameters>((value) => value instanceof z.ZodType || isJsonSchema(value), {
    error: ({ input }) =>
      `must be a z.object, or a JSON Schema with type: 'object' and properties, got ${described(input)}`,
  }),
  execute: callback<ToolDefinition['execute']>(),
  cost: z.number().nonnegative().default(1),
  timeoutMs: timerMs.default(10_000),
});

/** Schema of the arguments of a tool, of zod or as JSON. */
export type ToolParameters = z.ZodType | Readonly<Record<string, unknown>>;

/** Arguments that a schema lets through. Those of a JSON Schema are checked, but TypeScript cannot know their types. */
export type ToolArguments<Parameters extends ToolParameters> = Parameters extends z.ZodType
  ? z.output<Parameters>
  : Readonly<Record<string, unknown>>;

/** What {@link tool} makes a tool of. */
export interface ToolDefinition<Parameters extends ToolParameters = z.ZodType, S extends State = State> {
  /** What the policy calls it: 1 to 64 letters, digits, `_`, `-` or `.`. */
  readonly name: string;
  /** What it does and when to call it, for the policy. */
  readonly description: string;
  /**
   * Schema of the arguments: a `z.object`, or the JSON Schema under `tools[].function.parameters` of a request to OpenAI. The
   * policy sees JSON Schema.
   */
  readonly parameters: Parameters;
  /** Does the work. Returns text, or a value that JSON can hold. What it throws is told to the policy. */
  execute(args: ToolArguments<Parameters>, context: ToolContext<S>): unknown;
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
export function tool<Parameters extends ToolParameters, S extends State = State>(
  definition: ToolDefinition<Parameters, S>,
): Tool<S> {
  const { name, description, cost, timeoutMs } = parseOptions('tool', schema, definition, 'ToolDefinition');
  const { parameters, execute } = definition;
  const { told, checked } = readParameters(name, parameters);
  return {
    schema: functionSchema(name, description, told),
    cost,
    timeoutMs,
    run: async (args, context) =>
      execute((await checkedArguments(checked, args)) as ToolArguments<Parameters>, context),
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

function isJsonSchema(value: unknown): boolean {
  if (!isRecord(value) || value instanceof z.core.$ZodType) return false;
  return value.type === 'object' && isRecord(value.properties ?? {});
}

/** What the policy is told of the arguments, and what checks them. Throws an `OptionsError` for what cannot do both. */
function readParameters(name: string, parameters: ToolParameters) {
  const owner = `tool "${name}"`;
  if (parameters instanceof z.ZodType) {
    const told = z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' });
    if (told.type === 'object') return { told, checked: parameters };
    throw new OptionsError(owner, ['parameters: must be a z.object, because arguments have names']);
  }
  try {
    return { told: parameters, checked: z.fromJSONSchema(parameters) };
  } catch (error) {
    const problem = `zod cannot check this JSON Schema (${messageOf(error)}); write it as a z.object`;
    throw new OptionsError(owner, [`parameters: ${problem}`]);
  }
}
