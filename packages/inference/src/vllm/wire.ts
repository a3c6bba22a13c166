import type { TokenId } from '@rlp/core';
import * as z from 'zod';
import type { RemoteScores } from '../remote/remote-server.ts';

/** Route for sampling tokens. */
export type VllmRoute = 'generate' | 'completions';

/** Answer of `/v1/models`. */
export const modelsSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      root: z.string().nullish(),
      parent: z.string().nullish(),
      max_model_len: z.int().positive().nullish(),
    }),
  ),
});

/** Answer of `/weight_info`. */
export const weightInfoSchema = z.object({ weight_version: z.string() });

/** A list of one element per token. zod's own lists take longer than the rest of a request. */
const listOf = <Element>(isElement: (element: Element) => boolean) =>
  z.custom<readonly Element[]>((value) => Array.isArray(value) && value.every(isElement));
const tokensSchema = listOf<TokenId>(Number.isSafeInteger);

/** Answer of `/inference/v1/generate`. */
export const generateSchema = z.object({
  choices: z.array(
    z.object({
      index: z.int().nonnegative(),
      token_ids: tokensSchema.nullish(),
      finish_reason: z.string().nullish(),
      logprobs: z
        .object({
          content: listOf<{ readonly logprob: number }>(
            (token) => typeof token?.logprob === 'number',
          ).nullish(),
        })
        .nullish(),
      weight_versions: z.array(z.object({ version: z.string() })).nullish(),
    }),
  ),
});

/** Logprobs of one position of a prompt, by token. */
const positionSchema = z.record(z.string(), z.object({ logprob: z.number() })).nullable();

/** Answer of `/v1/completions` with `return_token_ids`. */
export const completionsSchema = z.object({
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        index: z.int().nonnegative(),
        token_ids: tokensSchema,
        prompt_token_ids: tokensSchema.nullish(),
        finish_reason: z.string().nullish(),
        logprobs: z
          .object({
            token_logprobs: listOf<number | null>(
              (logprob) => logprob === null || typeof logprob === 'number',
            ),
            top_logprobs: z.array(z.record(z.string(), z.number()).nullable()).nullish(),
          })
          .nullish(),
        prompt_logprobs: z.array(positionSchema).nullish(),
      }),
    )
    .min(1),
});

/** Scores of a prompt from its `prompt_logprobs`. */
export function promptLogprobs(
  positions: readonly z.output<typeof positionSchema>[],
  tokens: readonly TokenId[],
  distributions: 'whole' | 'none',
): RemoteScores {
  const logprobs = positions.map((position, t) => position?.[String(tokens[t])]?.logprob);
  if (distributions === 'none') return { logprobs };
  const full = positions.map((position) => {
    if (position === null) return undefined;
    const row: number[] = [];
    for (const [token, { logprob }] of Object.entries(position)) row[Number(token)] = logprob;
    return Array.from(row, (logprob) => logprob ?? Number.NEGATIVE_INFINITY);
  });
  return { logprobs, full };
}
