import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOnnxBackend } from '@rlp/backprop';
import type { Loss, TokenScorer, TrainingBackend } from '@rlp/core';
import { describeInferenceEngine, describeSampler, describeTokenScorer } from '@rlp/core/testing';
import { engineFleet } from '@rlp/inference';
import { createVllmSampler } from '@rlp/inference/vllm';
import { loadModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { afterAll, describe, expect, it } from 'vitest';
import { shortGrpo } from './grpo.ts';

const { RLP_VLLM_URL: url, RLP_VLLM_MODEL: folder } = process.env;

if (url === undefined || folder === undefined) {
  console.log(
    'peers: vLLM is skipped: set RLP_VLLM_URL and RLP_VLLM_MODEL, the folder of the model that it serves',
  );
  it.skip('vLLM: RLP_VLLM_URL or RLP_VLLM_MODEL is not set', () => undefined);
} else {
  const root = await mkdtemp(join(tmpdir(), 'rlp-peers-'));
  const model = await loadModel(folder);
  const { tokenizer } = model;
  const { vocabularySize } = model.config;
  const engine = await createEngine({ threads: 1 });
  const create = () =>
    createVllmSampler({ url, tokenizer, vocabularySize, token: process.env.RLP_VLLM_TOKEN });
  const prompt = tokenizer.encode('Once upon a time');
  const nll: Loss = {
    key: 'nll',
    columns: [],
    compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
  };
  const train = async (backend: Awaited<ReturnType<typeof createOnnxBackend>>) => {
    const tokens = [...prompt, 7, 8, 9];
    const rows = { mask: tokens.map((_, t) => (t === 0 ? 0 : 1)), weights: tokens.map(() => 1), columns: {} };
    await backend.forwardBackward({ sequences: [{ tokens, ...rows }] }, nll);
    await backend.optimStep();
  };
  const keepsOld = new Set<string>();
  let stores = 0;
  const trainer = (lora: 'lora' | 'full') =>
    createOnnxBackend({
      ...{
        engine,
        model,
        store: `peers-${stores++}`,
        learningRate: lora === 'lora' ? 2e-2 : 2e-3,
        reference: 'none',
      },
      ...(lora === 'lora' && { lora: { rank: 8, targets: ['q_proj', 'v_proj', 'o_proj', 'down_proj'] } }),
    });
  afterAll(async () => {
    await engine.close();
    await rm(root, { recursive: true, force: true });
  });

  const shared = await create();
  describeSampler('vLLM', {
    create: () => shared,
    prompt,
    tooLongPrompt: Array.from({ length: shared.contextLength + 1 }, () => 5),
  });
  describeTokenScorer('vLLM', {
    create: () => shared,
    requests: [
      { prompt, completion: [5, 6, 7] },
      { prompt: [...prompt, 9], completion: [8, 3] },
    ],
    vocabularySize,
    tolerance: 1e-4,
    entropies: 'unknown',
  });
  for (const [form, lora] of [
    ['adapter', 'lora'],
    ['checkpoint', 'full'],
  ] as const) {
    if (!shared.accepts.includes(form)) {
      console.log(`peers: vLLM takes no weights as ${form}, skipped`);
      continue;
    }
    const backend = await trainer(lora);
    describeInferenceEngine(`vLLM by ${form}`, {
      create: () => shared,
      publication: async (version) => {
        const publication = await backend.publish({
          as: form,
          directory: join(root, `engine-${form}-${version}`),
        });
        return { ...publication, version };
      },
      impossible: (version) => ({ kind: form, version, path: join(root, 'missing') }),
      prompt,
    });
    describe(`vLLM by ${form}`, () => {
      const tokens = [...prompt, 7, 8, 9];
      const request = { prompt: tokens.slice(0, 1), completion: tokens.slice(1) };
      const directory = () => join(root, `${form}-${stores++}`);
      const ours = async (trainer: TrainingBackend) =>
        (await trainer.logprobs([tokens]))[0]!.logprobs.subarray(1);
      const gap = async (sampler: TokenScorer) => {
        const [expected, [theirs]] = await Promise.all([ours(backend), sampler.scoreTokens([request])]);
        return Math.max(...theirs!.logprobs.map((x, t) => Math.abs(x - expected[t]!)));
      };

      it('has the logprobs of the trainer after an update, or the probe of a fleet refuses it', async () => {
        const sampler = await create();
        const fleet = engineFleet([sampler], { probe: { request, trainer: () => ours(backend) } });
        const begun = performance.now();
        await fleet.updateWeights(await backend.publish({ as: form, directory: directory() }));
        console.log(`peers: vLLM took a ${form} in ${(performance.now() - begun).toFixed(0)} ms`);
        expect(await gap(sampler)).toBeLessThan(1e-4);
        await train(backend);
        expect(await gap(sampler)).toBeGreaterThan(1e-3);
        const update = fleet.updateWeights(await backend.publish({ as: form, directory: directory() }));
        const refusal = await update.then(
          () => undefined,
          (error: Error) => error.message,
        );
        if (refusal === undefined) return void expect(await gap(sampler)).toBeLessThan(1e-4);
        console.log(`peers: vLLM keeps old weights after a ${form}: ${refusal}`);
        keepsOld.add(form);
        expect(refusal).toMatch(/did not load the weights/);
        expect(form).toBe('checkpoint');
      });

      it('learns by GRPO', async ({ skip }) => {
        if (keepsOld.has(form)) skip(`this server keeps old weights after a ${form}`);
        const learner = await trainer(lora);
        const sampler = await create();
        const run = { backend: learner, sampler, model, iterations: 16, publications: directory() };
        const { before, after, gap } = await shortGrpo(run);
        expect(after).toBeGreaterThan(before + 0.03);
        expect(gap).toBeLessThan(1e-4);
      });
    });
  }
}
