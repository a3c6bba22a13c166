import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOnnxBackend } from '@rlp/backprop';
import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import { choosePublication, OptionsError, type TrainingBackend } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler } from '@rlp/inference';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';
import { afterEach, describe, expect, it } from 'vitest';
import { GRPOAlgorithm } from '../algorithm/grpo.ts';
import { algorithmSetup, banditSetup, collect, letterTokenizer } from './bandit.fixture.ts';

const loop = { iterations: 1, tasksPerIteration: 2 };

/** The five members that a backend needs, of one that has more. */
function bare(backend: TabularBackend): TrainingBackend {
  return {
    publishes: backend.publishes,
    shares: backend.shares,
    forwardBackward: (batch, loss) => backend.forwardBackward(batch, loss),
    optimStep: () => backend.optimStep(),
    logprobs: (sequences, options) => backend.logprobs(sequences, options),
    publish: (options) => backend.publish(options),
    close: () => backend.close(),
  };
}

describe('preflight', () => {
  it('trains with a backend of five members', async () => {
    const setup = banditSetup('bare');
    const [report] = await collect({ ...setup, backend: bare(setup.backend) }, loop);
    expect(report!.metrics).toMatchObject({ 'update/count': 1, 'staleness/max': 0 });
  });

  it('refuses dependencies that are misspelt, missing or unfit, all in one error', async () => {
    const { inference, ...setup } = banditSetup('misspelt');
    const wrong = { ...setup, sampler: inference, reward: setup.rewards, groupFilters: () => true, clock: 3 };
    const error = (await collect(wrong as never, loop).catch((cause: unknown) => cause)) as Error;
    expect(error).toBeInstanceOf(OptionsError);
    for (const part of [
      'runRlTraining: invalid options (RlDependencies)',
      '"reward"; did you mean rewards?',
      '"groupFilters"; did you mean groupFilter?',
      'clock: must be a function',
      'inference: must be the sampler that takes over the weights',
    ])
      expect(error.message).toContain(part);
  });

  it('names every option whose group the backend lacks, in one error', async () => {
    const setup = banditSetup('bare');
    const options = {
      ...loop,
      loss: { klCoefficient: 0.1 },
      referenceKl: 'always',
      referenceUpdate: { method: 'copy', everyIterations: 1 },
    } as const;
    await expect(collect({ ...setup, backend: bare(setup.backend) }, options)).rejects.toThrow(
      /lacks what these options need.*\n {2}- loss.klCoefficient → reference: .*\n {2}- referenceKl: 'always' → reference: .*\n {2}- referenceUpdate → reference: /,
    );
    const silent = { ...bare(setup.backend), lacks: ['entropies'] } as const;
    const bonus = { ...loop, loss: { entropyCoefficient: 0.01 } };
    await expect(collect({ ...setup, backend: silent }, bonus)).rejects.toThrow(
      /- loss.entropyCoefficient → entropies: losses that read entropies/,
    );
    const critic = new TabularBackend({ vocabularySize: 8 });
    await expect(collect({ ...setup, critic }, loop)).rejects.toThrow(
      /- critic → values: .*valueHead: 'linear'/,
    );
  });

  it('refuses a sampler of another backend before the first iteration', () => {
    const [setup, other] = [algorithmSetup('one'), algorithmSetup('other')];
    const algorithm = () => new GRPOAlgorithm({ ...setup, sampler: other.sampler });
    expect(algorithm).toThrow(
      'GRPOAlgorithm: publish: the backend and the sampler live in different engines',
    );
    expect(() =>
      choosePublication({ publishes: ['checkpoint'] }, { accepts: ['shared'] }, 'anywhere'),
    ).toThrow('the backend publishes checkpoint and the sampler accepts shared');
  });

  it('refuses vocabularies that differ', () => {
    const setup = algorithmSetup('words');
    const other = new TabularBackend({ vocabularySize: 9 });
    const foreign = new TabularSampler({ backend: other, tokenizer: letterTokenizer });
    expect(() => new GRPOAlgorithm({ ...setup, sampler: foreign })).toThrow('knows 8 tokens and the sampler');
    for (const vocabularySize of [4, 9]) {
      const tokenizer = { ...letterTokenizer, vocabularySize };
      expect(() => new GRPOAlgorithm({ ...setup, tokenizer })).toThrow(
        `GRPOAlgorithm: \`tokenizer\` has ${vocabularySize} tokens`,
      );
    }
  });
});

describe('publication between engines', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const tokenizer = characterTokenizer('abcdefgh', { end: '.' });
  const model = () =>
    createModel({
      config: parseModelConfig({
        model_type: 'llama',
        vocab_size: tokenizer.vocabularySize,
        hidden_size: 8,
        intermediate_size: 16,
        num_hidden_layers: 1,
        num_attention_heads: 2,
        num_key_value_heads: 1,
        max_position_embeddings: 16,
        rms_norm_eps: 1e-5,
        hidden_act: 'silu',
        tie_word_embeddings: true,
        initializer_range: 0.3,
      }),
      tokenizer,
      seed: 'apart',
    });

  async function apart(lora?: { readonly rank: number }) {
    const [first, second] = [
      await createEngine({ thread: 'inline', threads: 1 }),
      await createEngine({ thread: 'inline', threads: 1 }),
    ];
    const backend = await createOnnxBackend({ engine: first, model: model(), learningRate: 0.05, lora });
    const sampler = await createOnnxSampler({ engine: second, model: model() });
    const publications = await mkdtemp(join(tmpdir(), 'rlp-publications-'));
    closing.push(
      () => rm(publications, { recursive: true }),
      () => first.close(),
      () => second.close(),
      () => backend.close(),
      () => sampler.close(),
    );
    const environment = new SimpleTextEnvironment({ prompts: ['a', 'b'] });
    const dependencies = {
      environment,
      tokenizer,
      tasks: taskSource(environment.tasks),
      rewards: rewardFunctions({ c: { reward: ({ response }) => response.split('c').length } }),
      backend,
      sampler,
    };
    return { dependencies, publications };
  }

  const options = { tasksPerIteration: 2, rollout: { groupSize: 4, sampling: { maxTokens: 6 } } };

  it('is refused without a directory', async () => {
    const { dependencies } = await apart();
    expect(() => new GRPOAlgorithm(dependencies, options)).toThrow(
      /live in different engines.*create both in one engine.*or give `publications`/,
    );
  });

  it.each([
    ['checkpoint', undefined],
    ['adapter', { rank: 2 }],
  ] as const)('reaches the sampler as %s', async (kind, lora) => {
    const { dependencies, publications } = await apart(lora);
    const { backend, sampler } = dependencies;
    expect(choosePublication(backend, sampler, publications).as).toBe(kind);
    const request = { prompt: [0], completion: [2, 1, 3] };
    const [before] = await sampler.scoreTokens([request]);
    const algorithm = new GRPOAlgorithm({ ...dependencies, publications }, options);
    for (let made = 1; made <= 2; made++) {
      const { state } = await algorithm.train({ iterations: 2, print: 'none' });
      expect(state!.iteration).toBe(2);
      const [sampled] = await sampler.scoreTokens([request]);
      const [trained] = await backend.logprobs([[...request.prompt, ...request.completion]]);
      expect(sampled!.logprobs).not.toEqual(before!.logprobs);
      for (const [t, logprob] of sampled!.logprobs.entries()) {
        expect(logprob).toBeCloseTo(trained!.logprobs[t + 1]!, 4);
      }
    }
  });
});
