import * as z from 'zod';

const token = z.int().nonnegative();

/** Tokens of a request. Only text can be served. */
const modelInput = z.object({
  chunks: z.array(
    z.object({
      type: z
        .literal('encoded_text', 'must be "encoded_text": this server takes no images')
        .default('encoded_text'),
      tokens: z.array(token),
    }),
  ),
});

const tensor = z.object({
  data: z.array(z.number()),
  dtype: z.string().nullish(),
  shape: z.array(z.int()).nullish(),
  sparse_crow_indices: z.null('is not supported: send a dense tensor').nullish(),
});

/** One sequence to train on, as Tinker writes it. */
const datumSchema = z.object({
  model_input: modelInput,
  loss_fn_inputs: z.record(z.string(), tensor),
});

/** One sequence to train on, as Tinker writes it. */
export type Datum = z.output<typeof datumSchema>;

/** What `forward` and `forward_backward` compute. */
const passSchema = z.object({
  data: z.array(datumSchema).min(1, 'must hold at least one datum'),
  loss_fn: z.string(),
  loss_fn_config: z.record(z.string(), z.number()).nullish(),
});

/** What `forward` and `forward_backward` compute. */
export type Pass = z.output<typeof passSchema>;

/** A request to a model. Numbers of requests rise by one. */
const ofModel = z.object({ model_id: z.string(), seq_id: z.int().nonnegative().nullish() });

/** Name of a checkpoint. It becomes a folder. */
const name = z
  .string()
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/, 'must be letters, digits, "_", "-" and ".", at most 255');

/** The optimizer of a model. */
const adamw = z
  .object({ type: z.literal('adamw', 'must be "adamw": this server has no other optimizer') })
  .nullish();

/** Adam, with Tinker's defaults. */
const adamSchema = z.object({
  type: z.literal('adamw', 'must be "adamw": this server has no other optimizer').optional(),
  learning_rate: z.number().nonnegative().default(1e-4),
  beta1: z.number().min(0).lt(1).default(0.9),
  beta2: z.number().min(0).lt(1).default(0.95),
  eps: z.number().positive().default(1e-12),
  weight_decay: z.number().nonnegative().default(0),
  grad_clip_norm: z.number().nonnegative().default(0),
});

/** Adam, as an update asks for it. */
export type AdamParams = z.output<typeof adamSchema>;

const samplingParams = z.object({
  max_tokens: z.int().positive().nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string().min(1), z.array(token), z.array(z.string().min(1))]).nullish(),
  temperature: z.number().nonnegative().default(1),
  top_k: z.int().min(-1).default(-1),
  top_p: z.number().gt(0).max(1).default(1),
});

const notSampled = 'is not served here: leave it out, or ask for topk_prompt_logprobs';

/** Bodies of the requests, by path. Unknown fields are left alone, because later clients send more. */
export const requestSchemas = {
  '/create_session': z.object({ tags: z.array(z.string()).default([]) }),
  '/session_heartbeat': z.object({ session_id: z.string() }),
  '/create_model': z.object({
    session_id: z.string(),
    base_model: z.string(),
    lora_config: z
      .object({
        rank: z.int().nonnegative(),
        seed: z.int().nullish(),
        train_unembed: z.boolean().default(true),
        train_mlp: z.boolean().default(true),
        train_attn: z.boolean().default(true),
      })
      .nullish(),
    optimizer_config: adamw,
    model_role: z.literal('policy', 'must be "policy": this server trains no critics').default('policy'),
  }),
  '/get_info': z.object({ model_id: z.string() }),
  '/unload_model': z.object({ model_id: z.string() }),
  '/forward': ofModel.extend({ forward_input: passSchema }),
  '/forward_backward': ofModel.extend({ forward_backward_input: passSchema }),
  '/optim_step': ofModel.extend({ adam_params: adamSchema }),
  '/save_weights': ofModel.extend({ path: name }),
  '/load_weights': ofModel
    .partial()
    .extend({
      path: z.string(),
      optimizer: z.boolean().default(true),
      session_id: z.string().nullish(),
      model_seq_id: z.int().nonnegative().nullish(),
      base_model: z.string().nullish(),
      optimizer_config: adamw,
    })
    .refine(({ model_id, session_id, model_seq_id }) => model_id || (session_id && model_seq_id != null), {
      error: 'must name a model_id, or a session_id and a model_seq_id for a model of its own',
    }),
  '/save_weights_for_sampler': ofModel.extend({ path: name.nullish() }),
  '/create_sampling_session': z.object({
    session_id: z.string(),
    base_model: z.string().nullish(),
    model_path: z.string().nullish(),
  }),
  '/asample': z.object({
    num_samples: z.int().positive().default(1),
    prompt: modelInput,
    sampling_params: samplingParams,
    base_model: z.string().nullish(),
    model_path: z.string().nullish(),
    sampling_session_id: z.string().nullish(),
    seq_id: z.int().nullish(),
    prompt_logprobs: z.boolean().nullish(),
    topk_prompt_logprobs: z.int().nonnegative().max(100).default(0),
    topk_sample_logprobs: z.literal(0, notSampled).nullish(),
    prompt_alt_tokens_k: z.literal(0, notSampled).nullish(),
    target_prompt_logprobs: z.null(notSampled).nullish(),
  }),
  '/retrieve_future': z.object({ request_id: z.string() }),
  '/weights_info': z.object({ tinker_path: z.string() }),
} as const;

/** Path of a request with a body. */
export type RequestPath = keyof typeof requestSchemas;

/** Body of a request. */
export type RequestOf<Path extends RequestPath> = z.output<(typeof requestSchemas)[Path]>;

/** Numbers as Tinker writes them. */
export function tensorOf(values: Iterable<number>): object {
  const data = Array.from(values);
  return { data, dtype: 'float32', shape: [data.length] };
}

/** Tokens of a text. */
export function tokensOf({ chunks }: z.output<typeof modelInput>): number[] {
  return chunks.flatMap(({ tokens }) => tokens);
}
