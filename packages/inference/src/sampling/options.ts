import { parseOptions, type SampleRequest, type TokenId } from '@rlp/core';
import * as z from 'zod';

/** Smallest temperature. Logits divided by a lower one would overflow float32. */
export const smallestTemperature = 1e-5;

/** Zod fields of core's `SamplingOptions`, with their defaults, for larger schemas. */
export const samplingFields = {
  /** Maximum tokens of a completion. */
  maxTokens: z.int().positive(),
  /**
   * Softmax temperature. Logprobs are reported at this temperature. 0 takes the most likely token and reports logprobs at temperature 1.
   * Default 1.
   */
  temperature: z
    .number()
    .refine(
      (temperature) => temperature === 0 || temperature >= smallestTemperature,
      `must be 0, which takes the most likely token, or at least ${smallestTemperature}`,
    )
    .default(1),
  /** Divides positive logits of tokens already in the sequence by this, and multiplies negative ones. At least 1. Default 1 (off). */
  repetitionPenalty: z.number().min(1).default(1),
  /** Number of most likely tokens to keep. Default 0 (off). */
  topK: z.int().nonnegative().default(0),
  /** Keeps the smallest set of tokens whose probabilities sum to at least this value. Default 1 (off). */
  topP: z.number().gt(0).max(1).default(1),
  /** Drops tokens less likely than this fraction of the most likely token's probability. Default 0 (off). */
  minP: z.number().min(0).max(1).default(0),
  /** Tokens that end a completion besides the model's own end tokens. Default `[]`. */
  stopTokens: z.array(z.int().nonnegative()).readonly().default([]),
  /** Texts that end a completion. The completion's text is cut before them. Default `[]`. */
  stopStrings: z.array(z.string().min(1)).readonly().default([]),
};

const requestSchema = z.strictObject({
  ...samplingFields,
  prompt: z.array(z.int().nonnegative()),
  count: z.int().positive(),
  seed: z.string(),
});
/** The same for a checked prompt. For long lists, zod takes longer than a server's client has for a request. */
const checkedSchema = requestSchema.extend({ prompt: z.custom<TokenId[]>() });

/** The data of a {@link SampleRequest}, checked, with every default filled in. */
export type ResolvedSampleRequest = Omit<z.output<typeof requestSchema>, 'prompt'> & {
  readonly prompt: readonly TokenId[];
};

/**
 * Checks a request and fills in defaults. The result has no `signal` and no `onToken`.
 *
 * @throws OptionsError naming every problem at once.
 */
export function resolveSampleRequest(request: SampleRequest): ResolvedSampleRequest {
  const { signal: _signal, onToken: _onToken, ...data } = request;
  if (!areTokens(data.prompt)) return parseOptions('sample', requestSchema, data);
  const resolved = parseOptions('sample', checkedSchema, data);
  return { ...resolved, prompt: [...resolved.prompt] };
}

function areTokens(prompt: unknown): boolean {
  return Array.isArray(prompt) && prompt.every((token) => Number.isSafeInteger(token) && token >= 0);
}
