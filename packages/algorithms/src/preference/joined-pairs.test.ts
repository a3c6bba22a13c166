import { createOnnxBackend } from '@rlp/backprop';
import type { FullBackend, Metrics } from '@rlp/core';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PreferenceOptions } from './options.ts';
import { runRewardModelTraining } from './reward-model.ts';
import { runPreferenceTraining } from './run-preference.ts';

const tokenizer = characterTokenizer(
  String.fromCodePoint(...Array.from({ length: 410 }, (_, k) => 0x4e00 + k)),
);
/** A second layer, because the first has the same keys and values whatever stands before a token. */
const config = parseModelConfig({
  ...{ model_type: 'llama', vocab_size: tokenizer.vocabularySize, hidden_size: 32, intermediate_size: 48 },
  ...{ num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 64 },
  ...{ rms_norm_eps: 1e-5, hidden_act: 'silu', tie_word_embeddings: true, initializer_range: 0.2 },
});
const model = createModel({ config, tokenizer, seed: 'pairs' });
let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 1 });
});
afterAll(() => engine.close());

const judged = (prompt: number, completion: number, from: number) => ({
  tokens: Array.from({ length: prompt + completion }, (_, t) =>
    t < prompt ? 3 + t : 3 + ((from + 7 * t) % 400),
  ),
  mask: Uint8Array.from({ length: prompt + completion }, (_, t) => (t < prompt ? 0 : 1)),
});
/** Pairs of very different lengths, so that rows of a micro-batch are of several. */
const pairs = [
  [2, 3, 9],
  [5, 12, 1],
  [1, 4, 4],
  [9, 1, 20],
  [3, 17, 2],
].map(([prompt, chosen, rejected], index) => ({
  chosen: judged(prompt!, chosen!, index),
  rejected: judged(prompt!, rejected!, 100 + index),
  margin: 0.1 * index,
}));

/** Counts the passes that only score. */
function counted(backend: FullBackend, tokensPerRow: number | undefined) {
  let scorings = 0;
  const handler: ProxyHandler<FullBackend> = {
    get(target, name) {
      if (name === 'tokensPerRow') return tokensPerRow;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        if (name === 'values' || (name === 'logprobs' && !isReference(given[1]))) scorings += 1;
        return value.apply(target, given) as unknown;
      };
    },
  };
  return { backend: new Proxy(backend, handler), scorings: () => scorings };
}

const isReference = (options: unknown) =>
  (options as { policy?: string } | undefined)?.policy === 'reference';

/** Metrics of three updates, with micro-batches of few pairs. */
async function train(
  tokensPerRow: number | undefined,
  run: (backend: FullBackend) => AsyncIterable<{ readonly metrics: Metrics }>,
) {
  const backend = await createOnnxBackend({
    engine,
    model,
    learningRate: 1e-3,
    tokensPerMicroBatch: 64,
    valueHead: 'linear',
  });
  const { backend: seen, scorings } = counted(backend, tokensPerRow);
  const reports: Metrics[] = [];
  for await (const { metrics } of run(seen)) reports.push(metrics);
  await backend.close();
  return { reports, scorings: scorings() };
}

function expectNear(one: readonly Metrics[], other: readonly Metrics[]): void {
  expect(one).toHaveLength(other.length);
  for (const [index, metrics] of one.entries()) {
    expect(Object.keys(metrics).sort()).toEqual(Object.keys(other[index]!).sort());
    for (const [name, value] of Object.entries(metrics)) {
      const expected = other[index]![name]!;
      expect(Math.abs(value - expected), `update ${index}, ${name}`).toBeLessThan(
        2e-4 * Math.max(1, Math.abs(expected)),
      );
    }
  }
}

it.each<[string, PreferenceOptions]>([
  ['dpo', { loss: 'sigmoid' }],
  ['a discount of longer answers', { loss: 'ipo', lengthDiscount: 0.5 }],
  ['orpo, which imitates prompts', { loss: 'orpo' }],
  ['simpo', { loss: 'simpo' }],
  [
    'several terms',
    {
      loss: [
        { kind: 'sigmoid', weight: 0.8 },
        { kind: 'sft', weight: 0.5 },
      ],
    },
  ],
])('learns in one pass what it learns in two: %s', async (_, options) => {
  const run = (backend: FullBackend) =>
    runPreferenceTraining({ backend, pairs }, { ...options, updates: 3, pairsPerBatch: 5 });
  const [joined, apart] = [await train(64, run), await train(undefined, run)];
  expect([joined.scorings, apart.scorings]).toEqual([0, 3]);
  expectNear(joined.reports, apart.reports);
});

it.each<PreferenceOptions>([
  { loss: 'ipo' },
  { loss: 'ipo', lengthDiscount: 0.5 },
  { loss: 'aot' },
  { loss: 'kto' },
])('finds no difference to the reference before the first update, to the last bit: %j', async (options) => {
  // Completions that begin alike and prompts that begin alike: plain scoring shares more of them than training does.
  const alike = pairs.flatMap(({ chosen, rejected }) => [
    {
      chosen,
      rejected: {
        ...rejected,
        tokens: [...chosen.tokens, ...rejected.tokens].slice(0, rejected.tokens.length),
      },
    },
    { chosen: rejected, rejected: chosen },
  ]);
  const run = (backend: FullBackend) =>
    runPreferenceTraining({ backend, pairs: alike }, { ...options, updates: 1, pairsPerBatch: 20 });
  for (const tokensPerRow of [64, undefined]) {
    const { reports } = await train(tokensPerRow, run);
    expect(reports[0]).toMatchObject({ 'reward/chosen': 0, 'reward/rejected': 0, 'reward/margin': 0 });
    expect([undefined, 0]).toContain(reports[0]!['reward/accuracy']);
    expect([undefined, 0]).toContain(reports[0]!['kl/mismatched']);
  }
});

it.each([
  ['kto', 3],
  ['apo-zero-unpaired', 0],
] as const)('scores only the mismatched rows of single sequences: %s', async (loss, scorings) => {
  const run = (backend: FullBackend) =>
    runPreferenceTraining({ backend, pairs }, { loss, updates: 3, pairsPerBatch: 10 });
  const [one, other] = [await train(64, run), await train(undefined, run)];
  expect([one.scorings, other.scorings]).toEqual([scorings, scorings]);
  // Entropies are read where a pass reports them.
  expectNear(
    one.reports.map(({ 'entropy/mean': _, ...rest }) => rest),
    other.reports,
  );
});

it('scores first if a loss compares one pair with another', async () => {
  const run = (backend: FullBackend) =>
    runPreferenceTraining({ backend, pairs }, { loss: 'aot', updates: 2, pairsPerBatch: 5 });
  expect((await train(64, run)).scorings).toBe(2);
});

it('trains a reward model in one pass as in two', async () => {
  const run = (backend: FullBackend) =>
    runRewardModelTraining({ backend, pairs }, { centering: 0.1, updates: 3, pairsPerBatch: 5 });
  const [joined, apart] = [await train(64, run), await train(undefined, run)];
  expect([joined.scorings, apart.scorings]).toEqual([0, 3]);
  expectNear(joined.reports, apart.reports);
});

it('scores first if a pair is longer than a row may be', async () => {
  const run = (backend: FullBackend) =>
    runPreferenceTraining({ backend, pairs }, { updates: 2, pairsPerBatch: 5 });
  const longest = Math.max(
    ...pairs.flatMap(({ chosen, rejected }) => [chosen.tokens.length, rejected.tokens.length]),
  );
  expect((await train(2 * longest, run)).scorings).toBe(0);
  expect((await train(2 * longest - 1, run)).scorings).toBe(2);
});
