import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeFullBackend } from '@rlp/core/testing';
import { readSafetensors } from '@rlp/models/safetensors';
import { describe, expect, it } from 'vitest';
import { inlineBackends, temporaryCheckpoint } from '../testing/inline-backends.ts';
import { gpt2, negativeLogLikelihood, sequences, tinyModel, tokenizer } from '../testing/tiny-model.ts';

const backends = inlineBackends();
const create = backends.create;

describeFullBackend('a decoder with low-rank adaptation', {
  create: async () => (await create({ lora: { rank: 3 } })).backend,
  vocabularySize: tokenizer.vocabularySize,
  checkpointDirectory: temporaryCheckpoint,
});

describe.each([
  ['llama', { num_hidden_layers: 2 }],
  ['gpt2', { ...gpt2, n_layer: 2 }],
])('low-rank adaptation of %s', (family, change) => {
  const rank = 2;
  const alpha = 8;

  it('has the gradients that the chain rule gives from those of the merged weights', async () => {
    const model = tinyModel(change);
    const lora = await create({ model, lora: { rank, alpha } });
    for (let update = 0; update < 2; update++) {
      await lora.backend.forwardBackward({ sequences }, negativeLogLikelihood);
      await lora.backend.optimStep();
    }
    const merged = await lora.backend.getWeights();
    const full = await create({ model: { ...model, weights: merged } });
    const results = [];
    for (const { backend } of [lora, full]) {
      results.push(await backend.forwardBackward({ sequences }, negativeLogLikelihood));
    }
    expect(results[0]!.loss).toBeCloseTo(results[1]!.loss, 5);
    const factors = await backends.engine.readStore(`${lora.store}/adapter`);
    const factorGradients = await backends.engine.readStore(`${lora.store}/adapter`, 'gradient');
    const gradients = await backends.engine.readStore(full.store, 'gradient');
    const modules = [...factors.keys()].filter((name) => name.endsWith('lora_A.weight'));
    expect(modules).toHaveLength(family === 'gpt2' ? 8 : 14);
    for (const down of modules) {
      const module = down.replace('.lora_A.weight', '');
      const [a, b] = [factors.get(down)!, factors.get(`${module}.lora_B.weight`)!];
      const weight = gradients.get(`${module}.weight`)!;
      const [outputs, inputs] = [b.shape[0]!, a.shape[1]!];
      const dw = (o: number, i: number) => weight.data[family === 'gpt2' ? i * outputs + o : o * inputs + i]!;
      const gotA = factorGradients.get(down)!.data;
      for (let r = 0; r < rank; r++) {
        for (let i = 0; i < inputs; i++) {
          let expected = 0;
          for (let o = 0; o < outputs; o++) expected += (alpha / rank) * b.data[o * rank + r]! * dw(o, i);
          expect(gotA[r * inputs + i], `${down} [${r}, ${i}]`).toBeCloseTo(expected, 4);
        }
      }
      const gotB = factorGradients.get(`${module}.lora_B.weight`)!.data;
      for (let o = 0; o < outputs; o++) {
        for (let r = 0; r < rank; r++) {
          let expected = 0;
          for (let i = 0; i < inputs; i++) expected += (alpha / rank) * dw(o, i) * a.data[r * inputs + i]!;
          expect(gotB[o * rank + r], `${module} B [${o}, ${r}]`).toBeCloseTo(expected, 4);
        }
      }
    }
    await Promise.all([lora.backend.close(), full.backend.close()]);
  });

  it('publishes merged weights and writes a PEFT adapter', async () => {
    const targets = [family === 'gpt2' ? 'c_attn' : 'q_proj'];
    const { backend, store } = await create({
      model: tinyModel(change),
      lora: { rank, alpha, targets },
    });
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
    const publication = await backend.publish({ as: 'shared' });
    expect(publication).toEqual({ kind: 'shared', version: 1, store, engine: backends.engine });
    expect(new Map(await backends.engine.readStore(store))).toEqual(new Map(await backend.getWeights()));
    const directory = await temporaryCheckpoint();
    await backend.saveCheckpoint(directory);
    const config = JSON.parse(await readFile(join(directory, 'adapter_config.json'), 'utf8'));
    expect(config).toMatchObject({ peft_type: 'LORA', r: rank, lora_alpha: alpha, target_modules: targets });
    const names = [...(await readSafetensors(join(directory, 'adapter_model.safetensors'))).keys()];
    expect(names).toHaveLength(4);
    const first = family === 'gpt2' ? 'transformer.h.0.attn.c_attn' : 'model.layers.0.self_attn.q_proj';
    expect(names).toContain(`base_model.model.${first}.lora_A.weight`);
    const louder = await create({ model: tinyModel(change), lora: { rank, targets } });
    await expect(louder.backend.loadCheckpoint(directory)).rejects.toThrow(
      'rank 2 and alpha 8, this backend 2 and 16',
    );
    await louder.backend.close();
    await backend.close();
  });
});

it('refuses a rank above that of every layer', async () => {
  await expect(create({ lora: { rank: 500 } })).rejects.toThrow(
    /lora\.rank is 500, but the largest layer that it corrects has rank \d+; pass at most \d+/,
  );
});

it('names the layers there are when a low-rank target is none of them', async () => {
  await expect(create({ lora: { targets: ['qproj'] } })).rejects.toThrow(
    'lora: no linear layer is named "qproj"; this model has q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj',
  );
});
