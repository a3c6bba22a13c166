import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { policyLoss } from '@rlp/algorithms/loss';
import { createOnnxBackend } from '@rlp/backprop';
import { createTinkerBackend, createTinkerSampler } from '@rlp/backprop/tinker';
import { defineLoss, type Loss, SamplerError } from '@rlp/core';
import {
  describeCheckpointBackend,
  describeInferenceEngine,
  describeSampler,
  describeTrainingBackend,
} from '@rlp/core/testing';
import { loadModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { afterAll, describe, expect, it } from 'vitest';
import { shortGrpo } from './grpo.ts';

const { RLP_TINKER_URL: url, RLP_TINKER_MODEL: folder } = process.env;

if (url === undefined || folder === undefined) {
  console.log(
    'peers: Tinker is skipped: set RLP_TINKER_URL and RLP_TINKER_MODEL, the folder of the model that it trains',
  );
  it.skip('Tinker: RLP_TINKER_URL or RLP_TINKER_MODEL is not set', () => undefined);
} else {
  const root = await mkdtemp(join(tmpdir(), 'rlp-peers-'));
  const model = await loadModel(folder);
  const { tokenizer } = model;
  const { vocabularySize } = model.config;
  const options = {
    ...{ url, vocabularySize, rank: 8, seed: 7, contextLength: 256 },
    apiKey: process.env.RLP_TINKER_KEY ?? 'tml-test',
  };
  const probed = await createTinkerBackend({ ...options, learningRate: 1e-2 });
  const { reduction } = probed;
  console.log(`peers: the Tinker server reduces losses by ${reduction}`);
  const create = () => createTinkerBackend({ ...options, reduction, learningRate: 1e-2 });
  afterAll(async () => {
    await probed.close();
    await rm(root, { recursive: true, force: true });
  });
  let directories = 0;
  const directory = async () => join(root, `checkpoint-${directories++}`);
  const prompt = tokenizer.encode('Once upon a time');

  describeTrainingBackend('Tinker', { create, vocabularySize, tolerance: 1e-3, knows: 'logprobs of tokens' });
  describeCheckpointBackend('Tinker', { create, checkpointDirectory: directory });
  const sampler = createTinkerSampler({ backend: probed, tokenizer, contextLength: 256 });
  describeSampler('Tinker', {
    create: () => sampler,
    prompt,
    tooLongPrompt: Array.from({ length: 257 }, () => 5),
  });
  describeInferenceEngine('Tinker', {
    create: () => sampler,
    publication: async (version) => {
      let publication = await probed.publish({ as: 'shared' });
      while (publication.version < version) publication = await probed.publish({ as: 'shared' });
      return publication;
    },
    impossible: (version) => ({ kind: 'checkpoint', version, path: 'missing' }),
    prompt,
  });

  describe('Tinker', () => {
    it('has the logprobs and losses of the same model here, to 1e-4', async () => {
      const engine = await createEngine({ threads: 1 });
      const ours = await createOnnxBackend({ engine, model, learningRate: 1e-3, reference: 'none' });
      const theirs = await create();
      const rows = ['Once upon a time there was', 'Tom and his friends'].map((text) =>
        tokenizer.encode(text),
      );
      const sequences = rows.map((tokens, row) => ({
        tokens,
        mask: tokens.map((_, t) => (t > 1 ? 1 : 0)),
        weights: tokens.map((_, t) => 0.1 + 0.01 * t),
        columns: { advantages: tokens.map((_, t) => (row === 0 ? 1 : -0.5) + 0.1 * (t % 3)) },
      }));
      const nll: Loss = {
        key: 'nll',
        columns: [],
        compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
      };
      const ratio: Loss = {
        key: 'ratio',
        columns: ['advantages'],
        compute: (ops, { logprobs, columns }) => ({
          tokenLosses: ops.neg(ops.mul(ops.exp(ops.mul(ops.constant(0.1), logprobs)), columns.advantages!)),
        }),
      };
      for (const loss of [nll, ratio]) {
        const [expected, got] = await Promise.all([
          ours.forwardBackward({ sequences }, loss),
          theirs.forwardBackward({ sequences }, loss),
        ]);
        expect(Math.abs(got.loss - expected.loss)).toBeLessThan(1e-4);
        const gaps = got.logprobs.flatMap((row, b) =>
          // Tokens that are not trained have no logprob here.
          [...row].flatMap((x, t) =>
            sequences[b]!.mask[t] ? [Math.abs(x - expected.logprobs[b]![t]!)] : [],
          ),
        );
        console.log(
          `peers: Tinker: loss ${got.loss}, ours ${expected.loss}, largest gap of logprobs ${Math.max(...gaps)}`,
        );
        expect(gaps.length).toBeGreaterThan(5);
        expect(Math.max(...gaps)).toBeLessThan(1e-4);
      }
      await theirs.close();
      await ours.close();
      await engine.close();
    });
  });

  describe("Tinker's own losses", () => {
    const tokens = tokenizer.encode('Once upon a time there was a cat');
    const column = (of: (t: number) => number) => tokens.map((_, t) => of(t));
    const mask = column((t) => (t > 1 ? 1 : 0));

    it.each(['importance-sampling', 'clip', 'cispo'] as const)(
      'make the updates of ours: %s',
      async (surrogate) => {
        const loss = policyLoss({ surrogate, proximal: 'behavior', correction: 'none' });
        const asked: string[] = [];
        const fetch: typeof globalThis.fetch = (address, init) => {
          asked.push(String(address).replace(/.*\/api\/v1/, ''));
          return globalThis.fetch(address, init);
        };
        // The same loss, which the driver does not recognise by a column of this name.
        const unknown = defineLoss({
          key: 'unknown',
          columns: ['advantages', 'sampled'],
          compute: (ops, { columns: { advantages, sampled }, ...inputs }) =>
            (loss as Loss).compute(ops, { ...inputs, columns: { advantages, behaviorLogprobs: sampled } }),
        });
        const backend = await createTinkerBackend({ ...options, reduction, learningRate: 1e-9, fetch });
        const [scored] = await backend.logprobs([tokens]);
        const sampled = column((t) => scored!.logprobs[t]! + 0.5 * Math.cos(3 * t));
        const columns = { sampled, behaviorLogprobs: sampled, advantages: column((t) => Math.sin(2 * t)) };
        const sequences = [{ tokens, mask, weights: column(() => 0.1), columns }];
        const update = async (one: Loss) => {
          await backend.forwardBackward({ sequences }, one);
          const { gradientNorm } = await backend.optimStep();
          asked.length = 0;
          await backend.forwardBackward({ sequences }, one);
          await backend.optimStep();
          return { gradientNorm, passes: asked.filter((path) => path.startsWith('/forward')).length };
        };
        const [quick, slow] = [await update(loss), await update(unknown)];
        await backend.close();
        console.log(`peers: Tinker: ${surrogate}: ${JSON.stringify({ quick, slow })}`);
        expect([quick.passes, slow.passes]).toEqual([1, 2]);
        expect(Math.abs(quick.gradientNorm / slow.gradientNorm - 1)).toBeLessThan(1e-5);
      },
    );
  });

  describe('training on Tinker', () => {
    it('lowers the loss by supervised training', async () => {
      const backend = await create();
      const tokens = tokenizer.encode('Once upon a time there was a cat');
      const sequence = {
        tokens,
        mask: tokens.map((_, t) => (t > 0 ? 1 : 0)),
        weights: tokens.map(() => 1 / (tokens.length - 1)),
        columns: {},
      };
      const nll: Loss = {
        key: 'nll',
        columns: [],
        compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
      };
      const losses: number[] = [];
      for (let update = 0; update < 8; update++) {
        const passed = backend.forwardBackward({ sequences: [sequence] }, nll);
        const updated = backend.optimStep();
        losses.push((await passed).loss);
        await updated;
      }
      console.log(`peers: Tinker: losses ${losses.map((x) => x.toFixed(3)).join(' ')}`);
      expect(losses.at(-1)).toBeLessThan(losses[0]! - 0.5);
      await backend.close();
    });

    it('learns by GRPO, samples with the weights it trains', async () => {
      const backend = await create();
      const policy = createTinkerSampler({ backend, tokenizer, contextLength: 256 });
      const { before, after, gap } = await shortGrpo({ backend, sampler: policy, model, iterations: 12 });
      expect(after).toBeGreaterThan(before + 0.03);
      expect(gap).toBeLessThan(1e-3);
      await backend.close();
    });

    it('names what the server refuses', async () => {
      await expect(createTinkerBackend({ ...options, model: 'another' })).rejects.toThrow(
        /set `model` to one of them/,
      );
      const stranger = createTinkerSampler({ backend: probed, tokenizer });
      await expect(
        stranger.updateWeights({ kind: 'shared', version: 99, engine: {}, store: 'x' }),
      ).rejects.toThrow(SamplerError);
    });
  });
}
