import { parseOptions, type SampleRequest, type TokenId } from '@rlp/core';
import * as z from 'zod';

/** Lower ones, dividing logits, would pass what float32 holds. */
export const smallestTemperature = 1e-5;

/** Zod fields of core's `SamplingOptions`, with their defaults; spread into larger schemas. */
export const samplingFields = {
  maxTokens: z.int().positive(),
  temperature: z
    .number()
    .refine(
      (temperature) => temperature === 0 || temperature >= smallestTemperature,
      `must be 0, which takes the most likely token, or at least ${smallestTemperature}`,
    )
    .default(1),
  repetitionPenalty: z.number().min(1).default(1),
  topK: z.int().nonnegative().default(0),
  topP: z.number().gt(0).max(1).default(1),
  minP: z.number().min(0).max(1).default(0),
  stopTokens: z.array(z.int().nonnegative()).default([]),
  stopStrings: z.array(z.string().min(1)).default([]),
};

const requestSchema = z.strictObject({
  ...samplingFields,
  prompt: z.array(z.int().nonnegative()),
  count: z.int().positive(),
  seed: z.string(),
});

/** The data of a {@link SampleRequest}, checked, with every default filled in. */
export type ResolvedSampleRequest = Omit<z.output<typeof requestSchema>, 'prompt'> & {
  readonly prompt: readonly TokenId[];
};

/**
 * Checks a request and fills in defaults; `signal` and `onToken` stay behind.
 *
 * @throws OptionsError naming every problem at once.
 */
export function resolveSampleRequest(request: SampleRequest): ResolvedSampleRequest {
  const { signal: _signal, onToken: _onToken, ...data } = request;
  return parseOptions('sample', requestSchema, data);
}
