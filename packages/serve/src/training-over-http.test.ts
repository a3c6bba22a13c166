import { join } from 'node:path';
import { runRlTraining } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { type InferenceEngine, RandomStream, type RewardComputer, type Sampler } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler, type InferenceBackend } from '@rlp/inference';
import { createVllmSampler } from '@rlp/inference/vllm';
import { RolloutManager } from '@rlp/rollout';
import { expect, it, onTestFinished } from 'vitest';
import { served } from './served.fixture.ts';
import { letterTokenizer, tinyPolicy } from './tiny.fixture.ts';

/** The share of letters of the first half of the alphabet. */
const rewards: RewardComputer = {
  computeRewards: async ({ trajectories }) =>
    trajectories.map((trajectory) => {
      const letters = [...trajectory.response];
      const reward = letters.filter((letter) => letter < 'm').length / Math.max(1, letters.length);
      return { trajectory, reward, components: { early: reward } };
    }),
};
const tasks = ['once', 'upon', 'a time'].map((prompt) => ({ id: prompt, prompt, metadata: undefined }));

/** Trains for a few iterations. Resolves with what was sampled, the rewards, and the weights at the end. */
async function trained(
  { engine, model }: Awaited<ReturnType<typeof tinyPolicy>>,
  samplerOf: () => Promise<Sampler & InferenceEngine>,
  run: { readonly store: string; readonly publications?: string },
) {
  const backend = await createOnnxBackend({
    ...{ engine, model, store: run.store, learningRate: 0.01, reference: 'none' },
  });
  const sampler = await samplerOf();
  // One group at a time, so that both ways compute the same batches.
  const rollouts = new RolloutManager(
    { environment: new SimpleTextEnvironment(), sampler, tokenizer: letterTokenizer },
    { groupSize: 16, concurrency: 1, sampling: { maxTokens: 6 } },
  );
  const curve: number[] = [];
  const parts = {
    rollouts,
    backend,
    inference: sampler,
    rewards,
    tasks: taskSource(tasks, { seed: 'tasks' }),
  };
  const training = runRlTraining(
    { ...parts, ...(run.publications !== undefined && { publications: run.publications }) },
    { iterations: 6, tasksPerIteration: 3 },
  );
  for await (const { metrics } of training) curve.push(metrics['reward/mean']!);
  const weights = await engine.readStore(run.store);
  return { curve, weights };
}

/** Drivers send 32 bits of a seed's name. */
function seededAsRemote(sampler: InferenceBackend): Sampler & InferenceEngine {
  return {
    ...{ accepts: sampler.accepts, shares: sampler.shares },
    get policyVersion() {
      return sampler.policyVersion;
    },
    sample: (request) => {
      const seed = RandomStream.named('remote sampler', request.seed).integer(2 ** 31);
      return sampler.sample({ ...request, seed: String(seed) });
    },
    updateWeights: (publication, signal) => sampler.updateWeights(publication, signal),
  };
}

it('trains by GRPO over the server to the same rewards and the same weights as in process', async () => {
  const tiny = await tinyPolicy();
  onTestFinished(tiny.close);
  const { engine, model, policy, folder, root } = tiny;
  const inProcess = await trained(
    tiny,
    async () => {
      const local = await createOnnxSampler({ engine, model, store: 'in process' });
      onTestFinished(() => local.close());
      return seededAsRemote(local);
    },
    { store: 'in process' },
  );
  const { url, token } = await served(policy, { folder });
  const overHttp = await trained(tiny, () => createVllmSampler({ url, token, tokenizer: letterTokenizer }), {
    store: 'trainer',
    publications: join(root, 'publications'),
  });
  expect(overHttp.curve).toEqual(inProcess.curve);
  expect(overHttp.weights).toEqual(inProcess.weights);
  const [first, last] = [overHttp.curve[0]!, overHttp.curve.at(-1)!];
  expect(last).toBeGreaterThan(first + 0.05);
});
