import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { loadModelConfig, loadWeights } from '../model/load-model.ts';
import { logitsOf, trainingStep } from '../testing/run-decoder.ts';

const fixture = (name: string, file = '') =>
  fileURLToPath(new URL(`../../fixtures/testdata/${name}/${file}`, import.meta.url));

interface Golden {
  readonly batch_ids: number[][];
  readonly logits: number[][];
  readonly loss: number;
  readonly grads: Record<string, { norm: number; sum: number; first4: number[] }>;
}

const NAMES = [
  'gpt2',
  'gpt2-gelu',
  'mistral',
  'mistral-window',
  'qwen2',
  'qwen2-window',
  'qwen3',
  'qwen3-moe',
  'qwen3-moe-raw',
  'llama-biases',
  'llama-linear',
  'llama-llama3',
  'llama-yarn',
  'smollm3',
  'olmo2',
  'phi3',
  'phi3-longrope',
  'gemma3',
];

describe.each(NAMES)('%s, against transformers', (name) => {
  const golden = JSON.parse(readFileSync(fixture(name, 'golden.json'), 'utf8')) as Golden;
  const load = async () => {
    const config = await loadModelConfig(fixture(name));
    return { config, weights: (await loadWeights(fixture(name), config)).weights };
  };

  it.each(['fused', 'standard'] as const)('gives its logits with %s ops', async (ops) => {
    const { config, weights } = await load();
    const ids = golden.batch_ids[0]!.slice(0, -1);
    const compute = await logitsOf(config, 1, ids.length, { ops });
    const logits = await compute(weights, [ids]);
    const worst = golden.logits
      .flat()
      .reduce((max, logit, i) => Math.max(max, Math.abs(logits[i]! - logit)), 0);
    expect(worst).toBeLessThan(2e-4);
  });

  it.each(['fused', 'standard'] as const)('gives its loss and gradients with %s ops', async (ops) => {
    const { config, weights } = await load();
    const step = await trainingStep(config, golden.batch_ids, { ops });
    const { loss, gradients } = await step(weights);
    expect(Math.abs(loss - golden.loss)).toBeLessThan(2e-5);
    expect([...gradients.keys()].sort()).toEqual(Object.keys(golden.grads).sort());
    for (const [tensor, { norm, sum, first4 }] of Object.entries(golden.grads)) {
      const gradient = gradients.get(tensor)!;
      const size = Math.sqrt(gradient.reduce((total, g) => total + g * g, 0));
      // A key's bias moves all scores of a query alike, so softmax leaves it no gradient without rotation.
      const scale = Math.max(norm, 1e-4);
      expect(Math.abs(size - norm), tensor).toBeLessThan(1e-4 * scale);
      const slack = 1e-4 * scale * Math.sqrt(gradient.length);
      expect(Math.abs(gradient.reduce((total, g) => total + g, 0) - sum), tensor).toBeLessThan(slack);
      for (const [i, g] of first4.entries())
        expect(Math.abs(gradient[i]! - g), tensor).toBeLessThan(1e-4 * scale);
    }
  });
});
