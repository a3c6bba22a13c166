import type { TokenId } from '@rlp/core';
import * as z from 'zod';

/** Text of a request as Tinker writes it. */
export function modelInput(tokens: readonly TokenId[]): object {
  return { chunks: [{ type: 'encoded_text', tokens }] };
}

/** Answer to a request that is being worked on. */
export const futureSchema = z.object({ request_id: z.string() });

/** Answer of `create_session`. */
export const sessionSchema = z.object({
  session_id: z.string(),
  error_message: z.string().nullish(),
});

/** Answer of `get_server_capabilities`. */
export const capabilitiesSchema = z.object({
  supported_models: z.array(z.object({ model_name: z.string().nullish() })),
});

/** Answer of `create_model`. */
export const modelSchema = z.object({ model_id: z.string(), request_id: z.string() });

/** Result of `forward` and `forward_backward`. */
export const passSchema = z.object({
  loss_fn_outputs: z.array(z.object({ logprobs: z.object({ data: z.array(z.number()) }) })),
});

/** Result of `optim_step`. */
export const optimSchema = z.object({ metrics: z.record(z.string(), z.number()).nullish() });

/** Result of `save_weights` and `save_weights_for_sampler`. */
export const savedSchema = z.object({ path: z.string() });

/** Result of `sample`. */
export const sampleSchema = z.object({
  sequences: z.array(
    z.object({
      stop_reason: z.string(),
      tokens: z.array(z.int()),
      logprobs: z.array(z.number()).nullish(),
    }),
  ),
  prompt_logprobs: z.array(z.number().nullable()).nullish(),
});

/** Any result. */
export const anySchema = z.looseObject({});

/** A result that is not ready, or reports an error. */
export const unfinishedSchema = z.object({
  type: z.string().nullish(),
  error: z.string().nullish(),
  category: z.string().nullish(),
});
