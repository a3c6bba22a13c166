import * as z from 'zod';

/** A tool that is offered to a policy, in the shape of the OpenAI API. Chat templates print it. */
export interface ToolSchema {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string | undefined;
    /** JSON Schema of the arguments, an object. */
    readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  };
}

const parametersSchema = z.record(z.string(), z.unknown());

/** Schema of {@link ToolSchema}. Tools as the Responses API and Anthropic's API have them are converted. */
export const toolSchema: z.ZodType<ToolSchema> = z.preprocess(
  asFunction,
  z.object({
    type: z.literal('function'),
    function: z.object({
      name: z.string().min(1),
      description: z.string().optional(),
      parameters: parametersSchema.optional(),
    }),
  }),
);

/** Schema of a list of tools, or of its JSON. */
export const toolListSchema: z.ZodType<readonly ToolSchema[]> = z.preprocess(
  (given) => (typeof given === 'string' ? fromJson(given) : given),
  z.array(toolSchema),
);

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `{ name, description, parameters }` or `{ name, input_schema }` as a function. */
function asFunction(tool: unknown): unknown {
  if (typeof tool !== 'object' || tool === null) return tool;
  const { function: own = tool } = tool as { readonly function?: unknown };
  if (typeof own !== 'object' || own === null) return tool;
  const { name, description, parameters, input_schema: input = parameters } = own as Record<string, unknown>;
  return {
    type: 'function',
    function: {
      name,
      ...(description != null && { description }),
      ...(input != null && { parameters: input }),
    },
  };
}
