import { ArgumentError, type RewardFunction } from '@rlp/core';
import { z } from 'zod';

/** @throws ArgumentError for a schema that cannot be read. */
function validatorOf(jsonSchema: unknown): z.ZodType {
  try {
    return z.fromJSONSchema(jsonSchema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    throw new ArgumentError(
      `jsonFormat: the schema cannot be read: ${error instanceof Error ? error.message : error}`,
      {
        cause: error,
      },
    );
  }
}

/** Options of {@link jsonFormat}. */
export interface JsonFormatOptions<Metadata> {
  /** A JSON Schema, or where to find it in the task's metadata. Default: any JSON will do. */
  readonly schema?: object | ((metadata: Metadata) => object) | undefined;
  /** The JSON in a response. Default: the response without a Markdown fence around it. */
  readonly extract?: ((response: string) => string | undefined) | undefined;
}

/**
 * 1 if a response is JSON that fits the schema, else 0.
 *
 * @throws ArgumentError for a schema that cannot be read.
 */
export function jsonFormat<Metadata = unknown>({
  schema: given,
  extract = withoutFence,
}: JsonFormatOptions<Metadata> = {}): RewardFunction<Metadata> {
  const fixed = typeof given === 'object' ? validatorOf(given) : undefined;
  return ({ task, response }) => {
    const validator = typeof given === 'function' ? validatorOf(given(task.metadata)) : fixed;
    const text = extract(response);
    if (text === undefined) return 0;
    try {
      const value: unknown = JSON.parse(text);
      return validator === undefined || validator.safeParse(value).success ? 1 : 0;
    } catch {
      return 0; // No JSON, or nested more deeply than the validator can follow.
    }
  };
}

/** The text in a Markdown fence that encloses all of it; else the text itself. Trimmed. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || trimmed.length < 6) return trimmed;
  const lineEnd = trimmed.indexOf('\n');
  const isLabelled = lineEnd > 0 && /^```[\w+-]*\s*$/.test(trimmed.slice(0, Math.min(lineEnd, 64)));
  return trimmed.slice(isLabelled ? lineEnd : 3, -3).trim();
}
