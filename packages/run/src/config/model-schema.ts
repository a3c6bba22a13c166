import type { LanguageModel } from '@rlp/models';
import * as z from 'zod';

const characters = z.strictObject({
  /** Alphabet. Each character is a token. Required. */
  characters: z.string().min(1),
  /** Further tokens, such as `<answer>`. Default `[]`. */
  others: z.array(z.string().min(1)).readonly().default([]),
  /** Token for characters outside the alphabet, which are an error otherwise. Default none. */
  unknown: z.string().min(1).optional(),
});

const createSchema = z.strictObject({
  /** `'bytes'` encodes any text. An alphabet encodes its characters only, in fewer tokens. Default `'bytes'`. */
  tokenizer: z.union([z.literal('bytes'), characters]).default('bytes'),
  /** Decoder blocks. Default 4. */
  layers: z.int().min(1).default(4),
  /** Elements of a hidden state. An even multiple of `heads`. Default 128. */
  hiddenSize: z.int().min(1).default(128),
  /** Attention heads per block. Default 4. */
  heads: z.int().min(1).default(4),
  /** Elements between the two halves of a feed-forward block. Default: 8/3 of `hiddenSize`, rounded up to a multiple of 32. */
  intermediateSize: z.int().min(1).optional(),
  /** Longest prompt and completion together, in tokens. Default 512. */
  contextLength: z.int().min(2).default(512),
  /** Standard deviation of the first weights. Default 0.05. */
  initializerRange: z.number().positive().default(0.05),
  /** Names the random streams of the first weights. Defaults to the run's `seed`. */
  seed: z.string().optional(),
});

/** A new small Llama. */
export type CreateModel = z.output<typeof createSchema>;

const isModel = (value: unknown) =>
  typeof value === 'object' && value !== null && 'weights' in value && 'tokenizer' in value;

/** Schema of the model of a run. */
export const modelSchema = z.union([
  z.string().min(1),
  z.strictObject({
    /** A new small Llama with random weights. `{}` takes all defaults. */
    create: createSchema
      .refine(({ hiddenSize, heads }) => hiddenSize % heads === 0, {
        path: ['hiddenSize'],
        message: 'must be a multiple of heads',
      })
      .refine(({ hiddenSize, heads }) => hiddenSize % heads !== 0 || (hiddenSize / heads) % 2 === 0, {
        path: ['hiddenSize'],
        message: 'must be an even multiple of heads, because positions turn pairs of numbers',
      }),
  }),
  z.custom<LanguageModel>(
    isModel,
    'expected a model folder or a name on the hub, { create: { … } }, or a loaded model',
  ),
]);
