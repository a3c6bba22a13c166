import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError, FormatError, type Loss, OptionsError } from '@rlp/core';
import { describeCriticBackend } from '@rlp/core/testing';
import { loadModel } from '@rlp/models';
import { readSafetensors } from '@rlp/models/safetensors';
import { describe, expect, it } from 'vitest';
import { traceLoss } from '../batch/traced-loss.ts';
import { decoderBuilder } from '../graphs/decoder-graph.ts';
import { PolicyGraphs } from '../graphs/policy-graphs.ts';
import { inlineBackends, temporaryCheckpoint } from '../testing/inline-backends.ts';
import { gpt2, negativeLogLikelihood, sequences, tinyModel, tokenizer } from '../testing/tiny-model.ts';
import { readValueHead } from './read-value-head.ts';
import { valueHeadSpec } from './value-head.ts';

const backends = inlineBackends();

describe.each([
  ['a decoder, fully trained', {}],
  [
    'a GPT-2 whose output matrix is its own, activations recomputed',
    { model: tinyModel({ ...gpt2, tie_word_embeddings: false }), activations: 'recompute' },
  ],
  ['a decoder with low-rank adaptation', { lora: { rank: 3 }, tokensPerMicroBatch: 4 }],
] as const)('%s', (name, options) => {
  describeCriticBackend(name, {
    create: async () => (await backends.create({ ...options, valueHead: 'linear' })).backend,
    createWithoutHead: async () => (await backends.create(options)).backend,
    vocabularySize: tokenizer.vocabularySize,
    checkpointDirectory: temporaryCheckpoint,
  });
});

/** `(V − 1)²`. */
const error: Loss = {
  key: 'error',
  columns: [],
  values: 'only',
  compute: (ops, { values }) => ({ tokenLosses: ops.square(ops.sub(values!, ops.constant(1))) }),
};

describe('a value head', () => {
  it('stays out of the weights, the reference and the model folder, and lies beside it in a checkpoint', async () => {
    const { backend, store } = await backends.create({ valueHead: 'linear' });
    for (const loss of [error, negativeLogLikelihood]) await backend.forwardBackward({ sequences }, loss);
    await backend.optimStep();
    await backend.publish({ as: 'shared' });
    const names = [...tinyModel().weights.keys()].sort();
    expect([...(await backend.getWeights()).keys()].sort()).toEqual(names);
    expect([...(await backends.engine.readStore(`${store}/reference`)).keys()].sort()).toEqual(names);
    const directory = await temporaryCheckpoint();
    await backend.saveCheckpoint(directory);
    expect([...(await readSafetensors(join(directory, 'model.safetensors'))).keys()].sort()).toEqual(names);
    expect(new Map((await loadModel(directory)).weights)).toEqual(new Map(await backend.getWeights()));
    const head = (await backends.engine.readStore(store)).get('score.weight')!;
    expect(head.data.some((value) => value !== 0)).toBe(true);
    const saved = new Map([['score.weight', head]]);
    expect(await readSafetensors(join(directory, 'value_head.safetensors'))).toEqual(saved);
    await backend.close();
  });

  it('is not published with a low-rank adapter', async () => {
    const { backend, store } = await backends.create({ valueHead: 'linear', lora: {} });
    const names = [...tinyModel().weights.keys()];
    expect([...(await backends.engine.readStore(store)).keys()]).toEqual(names);
    const directory = await temporaryCheckpoint();
    await backend.saveCheckpoint(directory);
    const adapter = await readSafetensors(join(directory, 'adapter_model.safetensors'));
    expect([...adapter.keys()].filter((name) => !name.includes('.lora_'))).toEqual([]);
    expect(await readdir(directory)).toContain('value_head.safetensors');
    await backend.close();
  });

  it('starts a critic where another one ended, and says where there is none', async () => {
    const first = await backends.create({ valueHead: 'linear' });
    await first.backend.forwardBackward({ sequences }, error);
    await first.backend.optimStep();
    const directory = await temporaryCheckpoint();
    await first.backend.saveCheckpoint(directory);
    const model = await loadModel(directory);
    const second = await backends.create({ model, valueHead: await readValueHead(directory) });
    const tokens = sequences.map((sequence) => sequence.tokens);
    expect(await second.backend.values(tokens)).toEqual(await first.backend.values(tokens));
    await rm(join(directory, 'value_head.safetensors'));
    await expect(readValueHead(directory)).rejects.toThrow(FormatError);
    await expect(readValueHead(directory)).rejects.toThrow(/model\.safetensors: holds no "score\.weight"/);
    await Promise.all([first.backend.close(), second.backend.close()]);
  });

  it('names the missing file of a broken checkpoint, and keeps the weights', async () => {
    const { backend } = await backends.create({ valueHead: 'linear' });
    const directory = await temporaryCheckpoint();
    await backend.saveCheckpoint(directory);
    await rm(join(directory, 'value_head.safetensors'));
    await expect(backend.loadCheckpoint(directory)).rejects.toThrow(/value_head\.safetensors/);
    expect(await backend.values([[0, 1]])).toEqual([new Float32Array(3)]);
    await backend.close();
  });

  it('values the state after a context that is full', async () => {
    const { backend } = await backends.create({ valueHead: 'linear' });
    const full = Array.from({ length: 32 }, (_, t) => t % tokenizer.vocabularySize);
    await backend.forwardBackward({ sequences }, error);
    await backend.optimStep();
    const [values] = await backend.values([full]);
    expect(values).toHaveLength(33);
    expect(values!.at(-1)).not.toBe(0);
    await expect(backend.values([[...full, 0]])).rejects.toThrow(
      /^values: .*\n.*33 tokens, the model's context holds 32/,
    );
    await backend.close();
  });

  it('rejects a row that does not fit, and what is no head', async () => {
    const row = { shape: [1, 3], data: new Float32Array(3) };
    await expect(backends.create({ valueHead: row })).rejects.toThrow(
      /createOnnxBackend: valueHead.*\n.*"score\.weight" has shape \[1,3\], expected \[1,16\]/,
    );
    const wrong = backends.create({ valueHead: 'mlp' as 'linear' });
    await expect(wrong).rejects.toThrow(OptionsError);
    await expect(wrong).rejects.toThrow(/valueHead.*expected 'none', 'linear', or a head/);
  });

  it('rejects a loss that reads entropies of a policy it does not compute', async () => {
    const { backend } = await backends.create({ valueHead: 'linear' });
    const refused = backend.forwardBackward({ sequences }, { ...error, entropies: 'needed' });
    await expect(refused).rejects.toThrow(ArgumentError);
    await expect(refused).rejects.toThrow(/give it values: 'needed'/);
    await backend.close();
  });

  it('costs no vocabulary head: graphs on values alone do not read the output matrix', () => {
    const { config } = tinyModel({ tie_word_embeddings: false });
    const valueHead = valueHeadSpec(config, 'linear');
    const builder = decoderBuilder({
      ...{ config, activations: 'keep', ops: 'fused', precision: 'float32' },
      valueHead,
    });
    for (const residency of ['host', 'device'] as const) {
      const graphs = new PolicyGraphs(builder, ['lm_head.weight', 'score.weight'], residency);
      const outputs = graphs.training('error', traceLoss(error)).gradients;
      expect(Object.keys(outputs)).toEqual(['score.weight']);
      for (const plan of [graphs.values('values'), graphs.training('error', traceLoss(error))]) {
        expect(plan.parameters).toContain('score.weight');
        expect(plan.parameters).not.toContain('lm_head.weight');
      }
      for (const plan of [
        graphs.scoring('score'),
        graphs.training('nll', traceLoss(negativeLogLikelihood)),
      ]) {
        expect(plan.parameters).toContain('lm_head.weight');
        expect(plan.parameters).not.toContain('score.weight');
      }
    }
  });
});

describe('a critic of its own', () => {
  it('learns beside a policy in one engine and leaves it alone', async () => {
    const policy = await backends.create({ store: 'actor' });
    const critic = await backends.create({
      store: 'critic',
      valueHead: 'linear',
      reference: 'none',
      tokensPerMicroBatch: 4,
    });
    const tokens = sequences.map((sequence) => sequence.tokens);
    const before = await policy.backend.logprobs(tokens);
    const losses: number[] = [];
    for (let update = 0; update < 20; update++) {
      losses.push((await critic.backend.forwardBackward({ sequences }, error)).loss);
      critic.backend.optimStep();
    }
    expect(losses.at(-1)).toBeLessThan(losses[0]! / 10);
    expect(await policy.backend.logprobs(tokens)).toEqual(before);
    await policy.backend.forwardBackward({ sequences }, negativeLogLikelihood);
    const values = await critic.backend.values(tokens);
    await policy.backend.optimStep();
    expect(await critic.backend.values(tokens)).toEqual(values);
    await critic.backend.close();
    expect(await policy.backend.logprobs(tokens)).not.toEqual(before);
    await policy.backend.close();
    for (const store of ['actor', 'critic', 'actor/reference', 'critic/scratch']) {
      expect(backends.engine.hasStore(store), store).toBe(false);
    }
  });
});
