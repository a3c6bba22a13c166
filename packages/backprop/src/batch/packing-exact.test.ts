import { type Loss, RandomStream, type TrainingSequence } from '@rlp/core';
import { expect, it } from 'vitest';
import type { OnnxBackendOptions } from '../backend-options.ts';
import type { OnnxTrainingBackend } from '../onnx-backend.ts';
import { inlineBackends } from '../testing/inline-backends.ts';
import { gpt2, tinyModel } from '../testing/tiny-model.ts';
import { layoutCosts } from './layout-costs.ts';
import { packBatch } from './packing.ts';

const backends = inlineBackends();

/** Reads columns and entropies, and sums over the tokens of a sequence. */
const loss: Loss = {
  key: 'exact',
  columns: ['advantages'],
  entropies: 'needed',
  compute: (ops, { logprobs, entropies, mask, columns }) => {
    const mean = ops.div(ops.rowSum(ops.mul(mask, logprobs)), ops.rowSum(mask));
    const surprise = ops.add(ops.neg(logprobs), ops.square(mean));
    return {
      tokenLosses: ops.sub(ops.mul(columns.advantages!, surprise), ops.mul(entropies!, ops.constant(0.1))),
      metrics: { surprise: ops.neg(logprobs) },
    };
  },
};

/** Draws sequences. */
function drawing(name: string) {
  const random = RandomStream.named('exact', name);
  const draw = (count: number) => Array.from({ length: count }, () => random.integer(8));
  const sequenceOf = (tokens: readonly number[], trained: (t: number) => boolean): TrainingSequence => {
    const mask = tokens.map((_, t) => (t > 0 && trained(t) ? 1 : 0));
    return {
      tokens,
      mask,
      weights: tokens.map(() => random.uniform()),
      columns: { advantages: tokens.map(() => 2 * random.uniform() - 1) },
    };
  };
  /** Answers to a common prompt. */
  const group = (prompt: readonly number[], answers: number) =>
    Array.from({ length: answers }, () => {
      const tokens = [...prompt, ...draw(1 + random.integer(8))];
      return sequenceOf(tokens, (t) => t >= prompt.length);
    });
  return { random, draw, sequenceOf, group };
}

/** Groups of answers to common prompts, rows of one conversation, and sequences by themselves. */
function randomBatch(name: string): TrainingSequence[] {
  const { random, draw, sequenceOf, group } = drawing(name);
  const talk = draw(24);
  const conversation = [8, 16, 24].map((end) =>
    sequenceOf(talk.slice(0, end), (t) => t >= end - 4 && t < end - 1),
  );
  const alone = Array.from({ length: 4 }, () => sequenceOf(draw(1 + random.integer(31)), () => true));
  const few = () => group(draw(1 + random.integer(12)), 3);
  return [...few(), ...conversation, ...alone, ...few()];
}

/** Two groups with prompts that are worth a stem, and a sequence by itself. */
function groupsOf(name: string): TrainingSequence[] {
  const { draw, sequenceOf, group } = drawing(name);
  const alone = sequenceOf(draw(11), (t) => t >= 5);
  return [...group(draw(18), 4), alone, ...group(draw(22), 5)];
}

/** Result and gradient of a batch. The update that clears the gradient changes nothing. */
async function gradientOf(
  backend: OnnxTrainingBackend,
  store: string,
  sequences: readonly TrainingSequence[],
  by = loss,
) {
  const result = await backend.forwardBackward({ sequences }, by);
  const gradient = await backends.engine.readStore(store, 'gradient');
  await backend.optimStep();
  return { result, gradient };
}

const largest = (numbers: Iterable<number>) => {
  let found = 0;
  for (const x of numbers) found = Math.max(found, Math.abs(x));
  return found;
};

const variants: readonly (readonly [string, Partial<OnnxBackendOptions>])[] = [
  ['grouped queries', { model: tinyModel({ num_hidden_layers: 2 }) }],
  ['learned positions', { model: tinyModel(gpt2) }],
  [
    'a sliding window',
    { model: tinyModel({ model_type: 'mistral', sliding_window: 5, num_key_value_heads: 4 }) },
  ],
  ['recomputed layers', { model: tinyModel({ num_hidden_layers: 2 }), activations: 'recompute' }],
  ['a low-rank correction', { lora: { rank: 2, seed: 'exact' } }],
];

const tokensPerMicroBatch = 48;

it.each(variants)('packs without changing loss, scores and gradients: %s', async (name, options) => {
  await expectSameApart(options, randomBatch(name));
});

it.each(variants)(
  'computes stems apart from their branches without changing them: %s',
  async (name, options) => {
    const sequences = groupsOf(name);
    const { config } = options.model ?? tinyModel();
    const limits = { vocabularySize: config.vocabularySize, contextLength: config.contextLength };
    const costs = layoutCosts(config, backends.engine);
    const { microBatches } = packBatch({ sequences }, loss, { ...limits, ...costs, tokensPerMicroBatch });
    const isBranched = microBatches.every(({ stem }) => stem !== undefined);
    expect(isBranched).toBe(config.slidingWindow === undefined);
    await expectSameApart(options, sequences, 3);
  },
);

/** Computes a batch, and each of its sequences by itself. @param rounding - Largest difference, in those of equal kernels. */
async function expectSameApart(
  options: Partial<OnnxBackendOptions>,
  sequences: readonly TrainingSequence[],
  rounding = 1,
) {
  const created = { ...options, tokensPerMicroBatch, learningRate: 0 };
  const { backend, store: policy } = await backends.create(created);
  const store = options.lora ? `${policy}/adapter` : policy;
  const together = await gradientOf(backend, store, sequences);
  const apart = [];
  for (const sequence of sequences) apart.push(await gradientOf(backend, store, [sequence]));
  const total = apart.reduce((sum, { result }) => sum + result.loss, 0);
  expect(Math.abs(together.result.loss / total - 1)).toBeLessThan(1e-6 * rounding);
  for (const [row, logprobs] of together.result.logprobs.entries()) {
    const alone = apart[row]!.result.logprobs[0]!;
    expect(largest(logprobs.map((x, t) => x - alone[t]!))).toBeLessThan(1e-6 * rounding);
  }
  // A batch without a token to learn from computes nothing, so it has no gradient.
  const learned = apart.filter((_, row) => Array.from(sequences[row]!.mask).includes(1));
  for (const [parameter, { data }] of together.gradient) {
    // Gradients of sequences cancel, so the sum is taken in float64 and its error is relative to what is summed.
    const parts = learned.map(({ gradient }) => gradient.get(parameter)!.data);
    const expected = Float64Array.from(data, (_, i) => parts.reduce((sum, part) => sum + part[i]!, 0));
    const gap = largest(data.map((x, i) => x - expected[i]!));
    const summed = parts.reduce((sum, part) => sum + largest(part), 0);
    expect(gap, parameter).toBeLessThanOrEqual(3e-7 * rounding * summed);
  }
  const tokens = sequences.map((sequence) => sequence.tokens);
  const scores = await backend.logprobs(tokens, { masks: sequences.map(({ mask }) => mask) });
  for (const [row, sequence] of sequences.entries()) {
    const [alone] = await backend.logprobs([sequence.tokens]);
    for (const score of ['logprobs', 'entropies'] as const) {
      const gaps = scores[row]![score].map((x, t) => (sequence.mask[t] ? x - alone![score][t]! : x));
      expect(largest(gaps)).toBeLessThan(1e-6 * rounding);
    }
  }
  await backend.close();
}

/** Reads no other token, so a token of weight 0 changes nothing. */
const plain: Loss = {
  key: 'plain',
  columns: ['advantages'],
  compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(columns.advantages!, ops.neg(logprobs)) }),
};

it.each(variants)(
  'computes the last layer of read tokens only, with the same gradients: %s',
  async (name, options) => {
    const { backend, store: policy } = await backends.create({ ...options, learningRate: 0 });
    const store = options.lora ? `${policy}/adapter` : policy;
    const sequences = randomBatch(name).filter(({ mask }) => Array.from(mask).includes(1));
    const everywhere = sequences.map((sequence) => ({
      ...sequence,
      mask: sequence.tokens.map((_, t) => (t > 0 ? 1 : 0)),
      weights: Array.from(sequence.mask, (read, t) => read * sequence.weights[t]!),
    }));
    const [some, all] = [
      await gradientOf(backend, store, sequences, plain),
      await gradientOf(backend, store, everywhere, plain),
    ];
    expect(Math.abs(some.result.loss - all.result.loss)).toBeLessThan(
      1e-6 * Math.abs(all.result.loss) + 1e-6,
    );
    for (const [parameter, { data }] of some.gradient) {
      const expected = all.gradient.get(parameter)!.data;
      expect(largest(data.map((x, i) => x - expected[i]!)), parameter).toBeLessThanOrEqual(
        2e-6 * Math.max(1, largest(expected)),
      );
    }
    await backend.close();
  },
);
