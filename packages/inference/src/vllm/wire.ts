import type { TokenId } from '@rlp/core';
import * as z from 'zod';
import type { RemoteScores } from '../remote/remote-server.ts';

/** Route that tokens are sampled by. */
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

/** Answer of `/inference/v1/generate`. */
export const generateSchema = z.object({
  choices: z.array(
    z.object({
      index: z.int().nonnegative(),
      token_ids: z.array(z.int()).nullish(),
      finish_reason: z.string().nullish(),
      logprobs: z
        .object({ content: z.array(z.object({ token_id: z.int(), logprob: z.number() })).nullish() })
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
        token_ids: z.array(z.int()),
        prompt_token_ids: z.array(z.int()).nullish(),
        finish_reason: z.string().nullish(),
        logprobs: z
          .object({
            token_logprobs: z.array(z.number().nullable()),
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
