import { ArgumentError, isRecord, parseOptions, timerMs } from '@rlp/core';
import * as z from 'zod';
import { readModelOutput, textOfPart } from './model-output.ts';
import { checkedArguments, functionSchema, type Tool } from './tool.ts';

const schema = z.strictObject({
  /** What a call costs. Default 1. */
  cost: z.number().nonnegative().default(1),
  /** Time limit of a call, in milliseconds. Default 10000. */
  timeoutMs: timerMs.default(10_000),
});

/** Options of {@link toolsFromAiSdk} and {@link toolsFromMcp}. */
export interface ForeignToolOptions extends z.input<typeof schema> {}

/** The parts of a tool of the AI SDK (`ai` 5 to 7) that are used here. `tool({ … })` of that package makes them. */
export interface AiSdkTool {
  readonly description?: unknown;
  /** A zod schema, or what `jsonSchema()` of the AI SDK returns. */
  readonly inputSchema: unknown;
  /** Does the work. Not typed further, as `toModelOutput`: a `tool({ … })` in place would infer its own types from it. */
  readonly execute?: unknown;
  /** What a model reads of the result, as `ai` 6 and 7 call it. */
  readonly toModelOutput?: unknown;
}

/**
 * Tools of the AI SDK as they are: `toolsFromAiSdk({ weather: tool({ … }) })`.
 *
 * `execute` gets `toolCallId`, `abortSignal` and no messages. Of a tool that streams, the last value counts. If a tool has
 * `toModelOutput`, the policy reads what that makes of the result.
 *
 * @throws ArgumentError for a tool without `execute`, and for a schema that is neither zod's nor made by `jsonSchema()`.
 */
export function toolsFromAiSdk(
  tools: Readonly<Record<string, AiSdkTool>>,
  options: ForeignToolOptions = {},
): readonly Tool[] {
  const limits = parseOptions('toolsFromAiSdk', schema, options, 'ForeignToolOptions');
  if (!isRecord(tools) || !Object.values(tools).every(isRecord)) {
    throw new ArgumentError(
      'toolsFromAiSdk: expected an object of tools by name, such as { weather: tool({ … }) }',
    );
  }
  return Object.entries(tools).map(([name, given]) => {
    const input = readInput(name, given.inputSchema);
    const execute = boundTo(given, given.execute);
    const show = boundTo(given, given.toModelOutput);
    if (execute === undefined) {
      throw new ArgumentError(`toolsFromAiSdk: "${name}" has no execute; a policy can only call what runs`);
    }
    return {
      ...limits,
      schema: functionSchema(name, given.description, input.json),
      run: async (args, { callId: toolCallId, signal: abortSignal }) => {
        const checked = await input.check(args);
        const output = await lastOf(await execute(checked, { toolCallId, messages: [], abortSignal }));
        return show === undefined
          ? output
          : readModelOutput(await show({ toolCallId, input: checked, output }));
      },
    };
  });
}

function boundTo(owner: object, method: unknown): ((...given: unknown[]) => unknown) | undefined {
  return typeof method === 'function' ? method.bind(owner) : undefined;
}

interface Input {
  /** JSON Schema of the arguments. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The arguments as the schema wants them. */
  check(args: Readonly<Record<string, unknown>>): unknown;
}

function readInput(name: string, given: unknown): Input {
  if (given instanceof z.core.$ZodType) {
    return {
      json: z.toJSONSchema(given, { io: 'input', unrepresentable: 'any' }),
      check: (args) => checkedArguments(given, args),
    };
  }
  if (isRecord(given) && isRecord(given.jsonSchema)) {
    const { jsonSchema: json, validate } = given;
    return {
      json,
      check: async (args) =>
        validated(typeof validate === 'function' ? await validate(args) : undefined, args),
    };
  }
  throw new ArgumentError(
    `toolsFromAiSdk: the inputSchema of "${name}" is neither a schema of zod 4 nor made by jsonSchema(); wrap it in jsonSchema() of the AI SDK`,
  );
}

/** What `validate` of the AI SDK says of arguments. */
function validated(result: unknown, args: unknown): unknown {
  if (!isRecord(result)) return args;
  if (result.success === false) throw result.error;
  return result.value;
}

/** The last value of a stream, or the value itself. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const value of result as AsyncIterable<unknown>) last = value;
  return last;
}

/** The parts of a client of `@modelcontextprotocol/sdk` that are used here. Connect it before you pass it. */
export interface McpClient {
  listTools(params?: { cursor?: string }): Promise<{
    readonly tools: readonly {
      readonly name: string;
      readonly description?: string | undefined;
      readonly inputSchema: object;
    }[];
    readonly nextCursor?: string | undefined;
  }>;
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    resultSchema?: undefined,
    options?: { signal?: AbortSignal; timeout?: number },
  ): Promise<unknown>;
}

/**
 * The tools of an MCP server, over a connected client of `@modelcontextprotocol/sdk`.
 *
 * The policy reads the text of an answer and of resources in it. Other parts, such as images, are named in brackets. An answer with `isError` is an error.
 */
export async function toolsFromMcp(
  client: McpClient,
  options: ForeignToolOptions = {},
): Promise<readonly Tool[]> {
  const limits = parseOptions('toolsFromMcp', schema, options, 'ForeignToolOptions');
  if (typeof client?.listTools !== 'function') {
    throw new ArgumentError(
      'toolsFromMcp: expected a client of @modelcontextprotocol/sdk that you have connected',
    );
  }
  const tools: Tool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    for (const { name, description, inputSchema } of page.tools) {
      tools.push({
        ...limits,
        schema: functionSchema(name, description, { ...inputSchema }),
        run: async (args, { signal }) =>
          answerOf(
            await client.callTool({ name, arguments: { ...args } }, undefined, {
              signal,
              timeout: limits.timeoutMs,
            }),
          ),
      });
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

function answerOf(result: unknown): string {
  const parts: readonly unknown[] = isRecord(result) && Array.isArray(result.content) ? result.content : [];
  const texts = parts.map(textOfPart);
  const structured = isRecord(result) ? result.structuredContent : undefined;
  const text = texts.length === 0 && structured !== undefined ? JSON.stringify(structured) : texts.join('\n');
  if (isRecord(result) && result.isError === true) throw new Error(text);
  return text;
}
