import type { Weights } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import type { LanguageModel } from '../model/language-model.ts';
import { logitsOf, trainingStep } from '../testing/run-decoder.ts';
import { tinyModel } from '../testing/tiny-models.ts';

const rows = [[3, 14, 15, 92, 65, 35]];
const router = /mlp\.gate\.weight$/;

function mixture(count: number): LanguageModel {
  return tinyModel('qwen3-moe', { num_experts: count, num_local_experts: count, mlp_only_layers: [] });
}

/** Weights of the wide model for the narrow one too, with routers that score all experts alike. */
function tied(
  { weights, config }: LanguageModel,
  wide: LanguageModel,
): { config: typeof config; weights: Weights } {
  const shared = [...weights].map(([name, { shape }]) => {
    const data = router.test(name) ? new Float32Array(shape[0]! * shape[1]!) : wide.weights.get(name)!.data;
    return [name, { shape, data }] as const;
  });
  return { config, weights: new Map(shared) };
}

describe('experts with equal scores', () => {
  const wide = mixture(4);
  const models = { wide: tied(wide, wide), narrow: tied(mixture(2), wide) };

  it('are used as many times as the config says, from the first', async () => {
    const run = async ({ config, weights }: (typeof models)['wide']) =>
      (await logitsOf(config, 1, rows[0]!.length))(weights, rows);
    const expected = await run(models.narrow);
    const logits = await run(models.wide);
    expect(Math.max(...logits.map((logit, index) => Math.abs(logit - expected[index]!)))).toBeLessThan(1e-5);
  });

  it('give no gradient to the others', async () => {
    const step = await trainingStep(models.wide.config, rows);
    const { gradients } = await step(models.wide.weights);
    const size = (expert: number) =>
      Math.max(...gradients.get(`model.layers.0.mlp.experts.${expert}.down_proj.weight`)!.map(Math.abs));
    expect([0, 1, 2, 3].map((expert) => size(expert) > 0)).toEqual([true, true, false, false]);
  });
});
