import { RandomStream, type TrainingSequence } from '@rlp/core';
import { characterTokenizer, type LanguageModel, parseModelConfig } from '@rlp/models';
import { parameterSpecs } from '@rlp/models/decoder';

/** A decoder and the work that is measured on it. The PyTorch peer reads the same object as JSON. */
export interface BenchShape {
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly inner: number;
  readonly vocabulary: number;
  /** Batch of the training step: sequences and predicted tokens of each. */
  readonly rows: number;
  readonly length: number;
  /** Work of generation. */
  readonly prompts: number;
  readonly promptLength: number;
  readonly newTokens: number;
  /** What the training step works on, if it is not `rows` sequences of `length` trained tokens. PyTorch has no such shape. */
  readonly batch?: GroupBatch | LengthsBatch;
  /** What generation works on, if it is not `prompts` completions. PyTorch has no such shape. */
  readonly conversations?: Conversations;
}

/** Conversations that run at once. Each turn samples an action and appends an observation to the prompt. */
interface Conversations {
  readonly episodes: number;
  readonly turns: number;
  readonly prompt: number;
  readonly action: number;
  readonly observation: number;
}

/** Answers to common prompts. Only answers are trained. */
interface GroupBatch {
  readonly groups: number;
  readonly answers: number;
  readonly prompt: number;
  readonly answer: number;
}

/** Sequences of log-normal lengths with standard deviation 1 of the logarithm, at most 2048. */
interface LengthsBatch {
  readonly sequences: number;
  readonly median: number;
}

const generation = { prompts: 16, promptLength: 32, newTokens: 96 };

/** S: a quickstart model, 3.3 M parameters; M: stories15M; L: SmolLM2-135M. */
export const shapes = {
  S: {
    ...{ hidden: 256, layers: 4, heads: 8, keyValueHeads: 8, inner: 688, vocabulary: 512 },
    ...{ rows: 32, length: 128, ...generation },
  },
  M: {
    ...{ hidden: 288, layers: 6, heads: 6, keyValueHeads: 6, inner: 768, vocabulary: 32_000 },
    ...{ rows: 8, length: 256, ...generation },
  },
  L: {
    ...{ hidden: 576, layers: 30, heads: 9, keyValueHeads: 3, inner: 1536, vocabulary: 49_152 },
    ...{ rows: 2, length: 256, ...generation },
  },
} as const satisfies Record<string, BenchShape>;

/** Eight layers of width 512, 41 M parameters. */
const wide = { hidden: 512, layers: 8, heads: 8, keyValueHeads: 8, inner: 1376, vocabulary: 32_000 };
/** The layers of stories260k. */
const narrow = { hidden: 64, layers: 5, heads: 8, keyValueHeads: 4, inner: 172, vocabulary: 512 };

/** Batches as reinforcement learning makes them, for the training step only. */
const trainShapes = {
  wide: { ...shapes.M, ...wide, rows: 8, length: 512 },
  'wide-long': { ...shapes.M, ...wide, rows: 1, length: 2048 },
  'wide-groups-256': { ...shapes.M, ...wide, batch: { groups: 2, answers: 8, prompt: 256, answer: 64 } },
  'wide-groups-512': { ...shapes.M, ...wide, batch: { groups: 2, answers: 8, prompt: 512, answer: 64 } },
  'wide-lengths': { ...shapes.M, ...wide, batch: { sequences: 24, median: 150 } },
  narrow: { ...shapes.M, ...narrow, rows: 64, length: 96 },
  'M-groups': { ...shapes.M, batch: { groups: 2, answers: 8, prompt: 512, answer: 64 } },
  'M-long': { ...shapes.M, rows: 1, length: 2048 },
  'S-lengths-64': { ...shapes.S, batch: { sequences: 64, median: 150 } },
  'S-lengths-16': { ...shapes.S, batch: { sequences: 16, median: 150 } },
  'S-short-64': { ...shapes.S, batch: { sequences: 64, median: 30 } },
} as const satisfies Record<string, BenchShape>;

const agents = { episodes: 16, turns: 8, prompt: 256, action: 32, observation: 32 };

/** Work as agents make it and many rows at once, for generation only. */
const generateShapes = {
  'S-agents': { ...shapes.S, conversations: agents },
  'M-agents': { ...shapes.M, conversations: agents },
  'L-agents': { ...shapes.L, conversations: agents },
  'S-rows-64': { ...shapes.S, prompts: 64 },
  'S-rows-256': { ...shapes.S, prompts: 256 },
} as const satisfies Record<string, BenchShape>;

/** Every shape by its name. */
export const allShapes: Readonly<Record<AnyShapeName, BenchShape>> = {
  ...shapes,
  ...trainShapes,
  ...generateShapes,
};

/** Name of any shape. */
export type AnyShapeName = TrainShapeName | keyof typeof generateShapes;

/** Whether a measurement works on a shape. */
export function isShapeOf(name: 'train-step' | 'generate' | 'loss-overhead', shape: AnyShapeName): boolean {
  if (shape in shapes) return true;
  if (name === 'train-step') return shape in trainShapes;
  return name === 'generate' && shape in generateShapes;
}

/** Name of a shape of the training step. */
type TrainShapeName = ShapeName | keyof typeof trainShapes;

/** Name of a shape. */
export type ShapeName = keyof typeof shapes;

/** A model of this shape with random weights, made in a second, and a tokenizer that never ends a completion. */
export function benchModel(shape: BenchShape): LanguageModel {
  const config = parseModelConfig(configOf(shape));
  const weights = parameterSpecs(config).map(({ name, shape: dims, role }, index) => {
    const data = new Float32Array(dims.reduce((product, size) => product * size, 1));
    return [name, { shape: dims, data: role === 'norm' ? data.fill(1) : noise(data, index) }] as const;
  });
  return {
    config,
    weights: new Map(weights),
    tokenizer: characterTokenizer('a'),
    chat: undefined,
    files: new Map(),
  };
}

/**
 * Numbers of deviation 0.02, by a linear congruential generator (Numerical Recipes). Timing needs no better ones, but no two tensors may be
 * alike: ONNX Runtime keeps one copy of equal weights that it packs, and reads it from the cache.
 */
function noise(data: Float32Array, tensor: number): Float32Array {
  let state = Math.imul(tensor + 1, 48271) + data.length;
  for (let index = 0; index < data.length; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    data[index] = 0.07 * (state / 2 ** 32 - 0.5);
  }
  return data;
}

/** The decoder of a shape, as a `config.json` of Hugging Face. */
export function configOf(shape: BenchShape) {
  return {
    model_type: 'llama',
    vocab_size: shape.vocabulary,
    hidden_size: shape.hidden,
    intermediate_size: shape.inner,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.keyValueHeads,
    max_position_embeddings: 8192,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    hidden_act: 'silu',
    tie_word_embeddings: true,
  };
}

/** One batch of a shape with advantages and the named columns of logprobs, which lie near those of an untrained model. */
export function benchSequences(shape: BenchShape, logprobs: readonly string[]): TrainingSequence[] {
  const random = RandomStream.named('bench', 'batch');
  const { vocabulary } = shape;
  const rows = benchTokens(shape, random);
  const trained = rows.reduce((sum, { tokens, from }) => sum + tokens.length - from, 0);
  return rows.map(({ tokens, from }) => {
    const near = () => tokens.map(() => -Math.log(vocabulary) + 0.1 * (random.uniform() - 0.5));
    return {
      tokens,
      mask: tokens.map((_, t) => (t < from ? 0 : 1)),
      weights: tokens.map(() => 1 / trained),
      columns: {
        advantages: tokens.map(() => 2 * random.uniform() - 1),
        ...Object.fromEntries(logprobs.map((name) => [name, near()])),
      },
    };
  });
}

/** Tokens of each sequence, and the first that is trained. */
function benchTokens({ batch, rows, length, vocabulary }: BenchShape, random: RandomStream) {
  const draw = (count: number) => Array.from({ length: count }, () => random.integer(vocabulary));
  const times = <Item>(count: number, make: () => Item) => Array.from({ length: count }, make);
  if (batch === undefined) return times(rows, () => ({ tokens: draw(length + 1), from: 1 }));
  if ('sequences' in batch) {
    return times(batch.sequences, () => {
      const count = Math.round(batch.median * Math.exp(random.normal()));
      return { tokens: draw(Math.min(2048, Math.max(2, count))), from: 1 };
    });
  }
  return times(batch.groups, () => {
    const prompt = draw(batch.prompt);
    return times(batch.answers, () => ({ tokens: [...prompt, ...draw(batch.answer)], from: batch.prompt }));
  }).flat();
}
