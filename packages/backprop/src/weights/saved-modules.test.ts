import { expect, it } from 'vitest';
import { estimateMemory } from '../memory/estimate-memory.ts';
import type { OnnxTrainingBackend } from '../onnx-backend.ts';
import { inlineBackends, temporaryCheckpoint } from '../testing/inline-backends.ts';
import { negativeLogLikelihood, sequences, tinyModel } from '../testing/tiny-model.ts';

const backends = inlineBackends();
const create = backends.create;

const tokens = sequences.map((sequence) => [...sequence.tokens]);
const untied = () => tinyModel({ tie_word_embeddings: false, num_hidden_layers: 2 });

async function train(backend: OnnxTrainingBackend, updates: number): Promise<void> {
  for (let update = 0; update < updates; update++) {
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
  }
}

it.each(['float32', 'int8'] as const)(
  'modules are trained in full beside a correction of frozen weights in %s, and published and saved with it',
  async (base) => {
    const model = untied();
    const lora = { rank: 2, base, modulesToSave: ['lm_head', 'embed_tokens', 'model.norm'] };
    const { backend, store } = await create({ model, lora, learningRate: 0.02 });
    await train(backend, 3);
    const weights = await backend.getWeights();
    const names = ['lm_head.weight', 'model.embed_tokens.weight', 'model.norm.weight'];
    for (const name of names) expect(weights.get(name), name).not.toEqual(model.weights.get(name));
    const other = 'model.layers.0.input_layernorm.weight';
    expect(weights.get(other)).toEqual(model.weights.get(other));

    expect(backend.publishes).toEqual(['shared', 'checkpoint']);
    await backend.publish({ as: 'shared' });
    const published = await backends.engine.readStore(store);
    for (const name of names) expect(published.get(name), name).toEqual(weights.get(name));

    const expected = await backend.logprobs(tokens);
    const directory = await temporaryCheckpoint();
    await backend.saveCheckpoint(directory);
    const second = await create({ model, lora: { adapter: directory, base } });
    expect(await second.backend.logprobs(tokens)).toEqual(expected);
  },
);

it('a tied matrix is one module by either name', async () => {
  const model = tinyModel({ tie_word_embeddings: true });
  const directory = await temporaryCheckpoint();
  const { backend } = await create({ model, lora: { modulesToSave: ['lm_head'] } });
  await train(backend, 1);
  await backend.saveCheckpoint(directory);
  const { backend: second } = await create({ model, lora: { adapter: directory } });
  expect(await second.getWeights()).toEqual(await backend.getWeights());
});

it('other weights reset the modules, those of the reference too', async () => {
  const model = untied();
  const lora = { modulesToSave: ['lm_head'] };
  const { backend } = await create({ model, lora, learningRate: 0.02 });
  const before = await backend.logprobs(tokens);
  await train(backend, 2);
  await backend.loadWeights(model.weights);
  expect(await backend.logprobs(tokens)).toEqual(before);
  expect(await backend.logprobs(tokens, { policy: 'reference' })).toEqual(before);
});

it('a layer is corrected or trained in full', async () => {
  const model = untied();
  const { backend, store } = await create({ model, lora: { modulesToSave: ['q_proj'] } });
  const adapter = [...(await backends.engine.readStore(`${store}/adapter`)).keys()];
  expect(adapter.filter((name) => name.includes('q_proj'))).toEqual([
    'model.layers.0.self_attn.q_proj.weight',
    'model.layers.1.self_attn.q_proj.weight',
  ]);
  await backend.close();
  await expect(create({ model, lora: { targets: ['q_proj'], modulesToSave: ['q_proj'] } })).rejects.toThrow(
    'targets and modulesToSave both name model.layers.0.self_attn.q_proj.weight; train it by a correction or in full',
  );
  await expect(create({ model, lora: { base: 'int8', modulesToSave: ['q_proj'] } })).rejects.toThrow(
    'is stored in 8 bits and cannot be trained in full',
  );
  await expect(create({ model, lora: { modulesToSave: ['lm_heat'] } })).rejects.toThrow(
    'no module\'s path ends with "lm_heat"; this model has embed_tokens, input_layernorm',
  );
});

it('memory counts the gradients, moments and reference of modules', () => {
  const { config } = untied();
  const question = { config, rows: 1, length: 4 };
  const numbers = config.vocabularySize * config.hiddenSize;
  const plain = estimateMemory({ ...question, lora: {} });
  const more = estimateMemory({ ...question, lora: { modulesToSave: ['lm_head'] } });
  expect(more.gradients - plain.gradients).toBe(4 * numbers);
  expect(more.optimizer - plain.optimizer).toBe(8 * numbers);
  expect(more.reference - plain.reference).toBe(4 * numbers);
  expect(more.weights - plain.weights).toBe(4 * numbers);
});
