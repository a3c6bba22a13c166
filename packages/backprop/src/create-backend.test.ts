import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArgumentError, type Loss, OptionsError, TrainingError, type TrainingSequence } from '@rlp/core';
import { describeTrainingBackend } from '@rlp/core/testing';
import { characterTokenizer, createModel, loadModel, parseModelConfig, readSafetensors } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OnnxBackendOptions } from './backend-options.ts';
import { createOnnxBackend } from './create-backend.ts';

const tokenizer = characterTokenizer('abcdefgh');

function tinyModel(change: Record<string, unknown> = {}) {
  const config = parseModelConfig({
    model_type: 'llama',
    vocab_size: tokenizer.vocabularySize,
    hidden_size: 16,
    intermediate_size: 24,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    max_position_embeddings: 32,
    rms_norm_eps: 1e-5,
    hidden_act: 'silu',
    tie_word_embeddings: true,
    initializer_range: 0.3,
    ...change,
  });
  return createModel({ config, tokenizer, seed: 'tiny' });
}

const gpt2 = {
  model_type: 'gpt2',
  n_embd: 16,
  n_layer: 2,
  n_head: 4,
  n_positions: 32,
  n_ctx: 32,
  activation_function: 'gelu_new',
  layer_norm_epsilon: 1e-5,
};

const negativeLogLikelihood: Loss = {
  key: 'negative-log-likelihood',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};

const sequences = [
  [1, 4, 2, 3, 5, 0, 1],
  [3, 3, 2],
].map(
  (tokens): TrainingSequence => ({
    tokens,
    mask: tokens.map((_, t) => Math.min(t, 1)),
    weights: tokens.map(() => 0.125),
    columns: {},
  }),
);

let engine: Engine;
let created = 0;
beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 1 });
});
afterAll(() => engine.close());

async function create(options: Partial<OnnxBackendOptions> = {}) {
  const store = `policy-${created++}`;
  const model = options.model ?? tinyModel();
  const backend = await createOnnxBackend({
    engine,
    model,
    store,
    learningRate: 0.01,
    maxGradientNorm: 'off',
    ...options,
  });
  return { backend, store };
}

const temporary = async () => join(await mkdtemp(join(tmpdir(), 'rlp-backend-')), 'checkpoint');

describeTrainingBackend('a decoder, fully trained', {
  create: async () => (await create()).backend,
  vocabularySize: tokenizer.vocabularySize,
  checkpointDirectory: temporary,
});

describeTrainingBackend('a decoder with low-rank adaptation', {
  create: async () => (await create({ adaptation: { kind: 'lora', rank: 3 } })).backend,
  vocabularySize: tokenizer.vocabularySize,
  checkpointDirectory: temporary,
});

describe('createOnnxBackend', () => {
  it('names every bad option', async () => {
    const options = { engine, model: tinyModel(), learningRate: -1, storee: 'x' } as OnnxBackendOptions;
    await expect(createOnnxBackend(options)).rejects.toThrow(OptionsError);
    await expect(createOnnxBackend(options)).rejects.toThrow(/learningRate.*\n.*storee/);
  });

  it('rejects weights that do not fit the config, and leaves no store behind', async () => {
    const model = tinyModel();
    const weights = new Map([...model.weights].slice(1));
    const creating = create({ model: { ...model, weights }, store: 'broken' });
    await expect(creating).rejects.toThrow(ArgumentError);
    await expect(creating).rejects.toThrow('"model.embed_tokens.weight" is missing');
    expect(engine.hasStore('broken')).toBe(false);
  });

  it('frees its stores on close', async () => {
    const { backend, store } = await create({ adaptation: { kind: 'lora' }, tokensPerMicroBatch: 8 });
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
    await backend.close();
    for (const name of ['', '/base', '/adapter', '/scratch', '/reference']) {
      expect(engine.hasStore(`${store}${name}`)).toBe(false);
    }
  });

  it('clips the global norm as PyTorch does', async () => {
    const [free, clipped] = [await create(), await create({ maxGradientNorm: 0.01 })];
    const norms: number[] = [];
    for (const { backend } of [free, clipped]) {
      await backend.forwardBackward({ sequences }, negativeLogLikelihood);
      norms.push((await backend.optimStep()).gradientNorm);
    }
    expect(norms[0]).toBeGreaterThan(0.1);
    expect(norms[1]).toBe(norms[0]);
    const moments = async (store: string) =>
      (await engine.readStore(store, 'moment1')).get('model.norm.weight')!;
    const [full, scaled] = [await moments(free.store), await moments(clipped.store)];
    for (const [i, moment] of full.data.entries()) {
      expect(scaled.data[i]! / moment).toBeCloseTo(0.01 / norms[0]!, 4);
    }
    await Promise.all([free.backend.close(), clipped.backend.close()]);
  });

  it('follows the schedule and decays matrices alone', async () => {
    const schedule = { kind: 'linear', updates: 4 } as const;
    const { backend } = await create({ schedule, optimizer: { weightDecay: 0.5 } });
    const before = await backend.getWeights();
    const rates = [];
    for (let update = 0; update < 4; update++) rates.push((await backend.optimStep()).learningRate);
    expect(rates).toEqual([0.01, 0.0075, 0.005, 0.0025]);
    const after = await backend.getWeights();
    const shrink = rates.reduce((product, rate) => product * (1 - 0.5 * rate), 1);
    for (const [name, { shape, data }] of before) {
      const expected = shape.length >= 2 ? shrink * data[0]! : data[0]!;
      expect(after.get(name)!.data[0], name).toBeCloseTo(expected, 6);
    }
    await backend.close();
  });

  it('names the first tensor whose gradient is not finite, and keeps weights and update count', async () => {
    const { backend } = await create();
    const before = await backend.getWeights();
    const exploding: Loss = {
      key: 'exploding',
      columns: [],
      compute: (ops, { logprobs }) => {
        const zero = ops.sub(logprobs, ops.stopGradient(logprobs));
        return { tokenLosses: ops.mul(zero, ops.constant(3e38)) };
      },
    };
    const large = sequences.map((one) => ({ ...one, weights: one.tokens.map(() => 4) }));
    const failing = backend.forwardBackward({ sequences: large }, exploding);
    await expect(failing).rejects.toThrow(TrainingError);
    await expect(failing).rejects.toThrow(/the gradient of "model\.\S+" is not finite/);
    expect(new Map(await backend.getWeights())).toEqual(new Map(before));
    expect(await backend.optimStep()).toMatchObject({ gradientNorm: 0, updates: 1 });
    await backend.close();
  });

  it('has no reference policy when told to keep none', async () => {
    const { backend, store } = await create({ reference: 'none' });
    await backend.optimStep();
    expect(engine.hasStore(`${store}/reference`)).toBe(false);
    await expect(backend.logprobs([[0, 1]], { policy: 'reference' })).rejects.toThrow(
      "there is no reference policy; create the backend with reference: 'initial'",
    );
    await expect(backend.updateReference({ method: 'copy' })).rejects.toThrow(TrainingError);
    await expect(backend.updateReference({ method: 'ema', decay: 2 })).rejects.toThrow(ArgumentError);
    await backend.close();
  });

  it('stops scoring when its signal aborts', async () => {
    const { backend } = await create({ tokensPerMicroBatch: 1 });
    const controller = new AbortController();
    const scoring = backend.logprobs(Array(50).fill([0, 1, 2]), { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(scoring).rejects.toThrow('enough');
    await expect(backend.logprobs([[0, 1]])).resolves.toHaveLength(1);
    await backend.close();
  });

  it('gives the same gradients when activations are recomputed', async () => {
    const gradients = [];
    for (const activations of ['keep', 'recompute'] as const) {
      const { backend, store } = await create({ activations });
      await backend.forwardBackward({ sequences }, negativeLogLikelihood);
      gradients.push(await engine.readStore(store, 'gradient'));
      await backend.close();
    }
    for (const [name, { data }] of gradients[0]!) {
      const other = gradients[1]!.get(name)!.data;
      for (const [i, value] of data.entries()) expect(other[i], name).toBeCloseTo(value, 6);
    }
  });
});

describe('a full checkpoint', () => {
  it('is a model folder that loads as one', async () => {
    const { backend } = await create();
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
    const directory = await temporary();
    await backend.saveCheckpoint(directory);
    const loaded = await loadModel(directory);
    expect(new Map(loaded.weights)).toEqual(new Map(await backend.getWeights()));
    expect(await readdir(join(directory, '..'))).toEqual(['checkpoint']);
    await backend.close();
  });
});

describe.each([
  ['llama', {}],
  ['gpt2', gpt2],
])('low-rank adaptation of %s', (_, change) => {
  const rank = 2;
  const alpha = 8;

  it('has the gradients that the chain rule gives from those of the merged weights', async () => {
    const model = tinyModel(change);
    const lora = await create({ model, adaptation: { kind: 'lora', rank, alpha } });
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
    const factors = await engine.readStore(`${lora.store}/adapter`);
    const factorGradients = await engine.readStore(`${lora.store}/adapter`, 'gradient');
    const gradients = await engine.readStore(full.store, 'gradient');
    const modules = [...factors.keys()].filter((name) => name.endsWith('lora_A.weight'));
    expect(modules).toHaveLength(change === gpt2 ? 8 : 14);
    for (const down of modules) {
      const module = down.replace('.lora_A.weight', '');
      const [a, b] = [factors.get(down)!, factors.get(`${module}.lora_B.weight`)!];
      const weight = gradients.get(`${module}.weight`)!;
      const [outputs, inputs] = [b.shape[0]!, a.shape[1]!];
      const dw = (o: number, i: number) => weight.data[change === gpt2 ? i * outputs + o : o * inputs + i]!;
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
    const targets = [change === gpt2 ? 'c_attn' : 'q_proj'];
    const { backend, store } = await create({
      model: tinyModel(change),
      adaptation: { kind: 'lora', rank, alpha, targets },
    });
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
    const publication = await backend.publish();
    expect(publication).toEqual({ kind: 'shared', version: 1, store });
    expect(new Map(await engine.readStore(store))).toEqual(new Map(await backend.getWeights()));
    const directory = await temporary();
    await backend.saveCheckpoint(directory);
    const config = JSON.parse(await readFile(join(directory, 'adapter_config.json'), 'utf8'));
    expect(config).toMatchObject({ peft_type: 'LORA', r: rank, lora_alpha: alpha, target_modules: targets });
    const names = [...(await readSafetensors(join(directory, 'adapter_model.safetensors'))).keys()];
    expect(names).toHaveLength(4);
    const first = change === gpt2 ? 'transformer.h.0.attn.c_attn' : 'model.layers.0.self_attn.q_proj';
    expect(names).toContain(`base_model.model.${first}.lora_A.weight`);
    await backend.close();
  });
});

it('names the layers there are when a low-rank target is none of them', async () => {
  await expect(create({ adaptation: { kind: 'lora', targets: ['qproj'] } })).rejects.toThrow(
    'lora: no linear layer is named "qproj"; this model has q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj',
  );
});
