import { beforeAll, describe, expect, it } from 'vitest';

import { decoderScores, logitsOf, trainingStep } from '../testing/run-decoder.ts';
import { goldenFolder, goldenJson, present } from '../testing/shared-data.ts';
import type { LanguageModel } from './language-model.ts';
import { loadModel } from './load-model.ts';

interface Golden {
  readonly tolerance: { float32_logits: number; token_logprobs: number };
  readonly cases: readonly {
    text: string;
    input_ids: number[];
    token_logprobs: number[];
    last_entropy: number;
    last_top10: { id: number; logit: number }[];
    last_logits_sum: number;
    greedy_ids: number[];
    greedy_new_text: string;
  }[];
}

interface TrainGolden {
  readonly tolerance_float32: { loss: number; grad_norm_rel: number };
  readonly batch_ids: number[][];
  readonly loss: number;
  readonly grads: Record<string, { norm: number; sum: number; first4: number[] }>;
}

const norm = (values: Iterable<number>) => {
  let total = 0;
  for (const value of values) total += value * value;
  return Math.sqrt(total);
};

describe.each(present(['stories260k', 'tinystories656k', 'babyllama105']))('%s', (name) => {
  const golden = goldenJson<Golden>(name, 'golden.json');
  const train = goldenJson<TrainGolden>(name, 'train_golden.json');
  let model: LanguageModel;
  beforeAll(async () => {
    model = await loadModel(goldenFolder(name));
  });

  it.each(['fused', 'standard'] as const)(
    'gives the reference logprobs, logits and entropies with %s ops',
    async (ops) => {
      for (const each of golden.cases) {
        const { input_ids: ids } = each;
        const { config, weights } = model;
        const targets = [...ids.slice(1), 0];
        const { logprobs, entropies, logits } = await decoderScores(config, weights, [ids], [targets], {
          ops,
        });
        for (const [i, expected] of each.token_logprobs.entries()) {
          expect(Math.abs(logprobs[i]! - expected), `${each.text} ${i}`).toBeLessThan(
            golden.tolerance.token_logprobs,
          );
        }
        expect(Math.abs(entropies.at(-1)! - each.last_entropy)).toBeLessThan(golden.tolerance.token_logprobs);
        const last = logits.subarray(-config.vocabularySize);
        for (const { id, logit } of each.last_top10) {
          expect(Math.abs(last[id]! - logit)).toBeLessThan(golden.tolerance.float32_logits);
        }
        const total = last.reduce((sum, logit) => sum + logit, 0);
        expect(Math.abs(total - each.last_logits_sum)).toBeLessThan(config.vocabularySize * 2e-5 + 1e-2);
      }
    },
  );

  it('continues greedily as the reference does', async () => {
    const [first] = golden.cases;
    const { config, weights, tokenizer } = model;
    const ids = [...first!.input_ids];
    const time = ids.length + first!.greedy_ids.length;
    const compute = await logitsOf(config, 1, time);
    for (let i = 0; i < first!.greedy_ids.length; i++) {
      const padded = [...ids, ...new Array<number>(time - ids.length).fill(0)];
      const logits = await compute(weights, [padded]);
      const row = logits.subarray(
        (ids.length - 1) * config.vocabularySize,
        ids.length * config.vocabularySize,
      );
      ids.push(row.indexOf(Math.max(...row)));
    }
    const continuation = ids.slice(first!.input_ids.length);
    expect(continuation).toEqual(first!.greedy_ids);
    expect(tokenizer.encode(first!.text).slice(-4)).toEqual(first!.input_ids.slice(-4));
  });

  it.each([
    { ops: 'fused', recompute: 'none' },
    { ops: 'standard', recompute: 'none' },
    { ops: 'fused', recompute: 'layer' },
  ] as const)(
    'gives the reference loss and the gradient of every tensor with $ops ops, recomputing $recompute',
    async (options) => {
      const step = await trainingStep(model.config, train.batch_ids, options);
      const { loss, gradients } = await step(model.weights);
      expect(Math.abs(loss - train.loss)).toBeLessThan(train.tolerance_float32.loss);
      const expected = new Map(Object.entries(train.grads));
      const tied = expected.get('lm_head.weight');
      if (tied && !expected.has('model.embed_tokens.weight')) expected.set('model.embed_tokens.weight', tied);
      expected.delete('lm_head.weight');
      expect([...gradients.keys()].sort()).toEqual([...expected.keys()].sort());
      for (const [tensor, { norm: size, sum, first4 }] of expected) {
        const gradient = gradients.get(tensor)!;
        expect(Math.abs(norm(gradient) - size) / size, tensor).toBeLessThan(
          train.tolerance_float32.grad_norm_rel,
        );
        const slack = 1e-4 * size * Math.sqrt(gradient.length);
        expect(Math.abs(gradient.reduce((total, g) => total + g, 0) - sum), tensor).toBeLessThan(slack);
        for (const [i, g] of first4.entries())
          expect(Math.abs(gradient[i]! - g), tensor).toBeLessThan(1e-4 * size);
      }
    },
  );
});
