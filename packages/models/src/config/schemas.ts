import * as z from 'zod';

/** A size that must be given. */
export const size = z
  .int()
  .positive()
  .max(2 ** 31);
/** Number of layers, each of which has parameters to list. */
export const layerCount = z.int().positive().max(4096);

const tokenId = z.int().nonnegative();

/** One id or several, as a list. `undefined` if the file has none. */
const tokenIds = z
  .union([tokenId.transform((id) => [id]), z.array(tokenId)], 'expected a token id or a list of them')
  .nullish()
  .transform((ids) => ids ?? undefined);
/** −1 means none, as in Llama's first files. */
const optionalId = z
  .union([tokenId, z.literal(-1), z.array(tokenId).transform((ids) => ids[0])], 'expected a token id')
  .nullish()
  .transform((id) => (id === -1 ? undefined : (id ?? undefined)));

/** Begin, end and padding tokens of `generation_config.json`. */
export const generationSchema = z.looseObject({
  bos_token_id: optionalId,
  eos_token_id: tokenIds,
  pad_token_id: optionalId,
});

/** Fields every decoder's config shares. */
export const commonShape = {
  ...generationSchema.shape,
  vocab_size: size,
  initializer_range: z.number().nonnegative().default(0.02),
};

const ACTIVATIONS = {
  silu: 'silu',
  swish: 'silu',
  gelu: 'gelu',
  gelu_new: 'gelu-tanh',
  gelu_pytorch_tanh: 'gelu-tanh',
} as const;

/** Name of an activation function, without its synonyms. */
export const activation = z
  .enum(Object.keys(ACTIVATIONS) as (keyof typeof ACTIVATIONS)[])
  .transform((name) => ACTIVATIONS[name]);

/** A field that must be absent or have this value, the only one supported. */
export const only = <Value extends string | number | boolean>(value: Value) =>
  z.literal(value, `only ${value} is supported`).nullish();
