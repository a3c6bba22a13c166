import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { GRPOAlgorithm, type RlState } from '@rlp/algorithms';
import { loadRun, saveRun } from '@rlp/algorithms/run';
import { createOnnxBackend } from '@rlp/backprop';
import type { Metrics, Task } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { loadModel, saveModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';
import { RolloutManager } from '@rlp/rollout';
import { compositeLogger, consoleLogger, JsonlLogger } from '@rlp/tracking';
import { type StoryWish, storyTasks } from './openings.ts';
import { containsWord, endsCleanly, freshness } from './story-reward.ts';

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: join(process.env.RLP_SHARED ?? '../shared', 'data/stories260k') },
    out: { type: 'string', default: 'runs/stories' },
    word: { type: 'string', default: 'happy' },
    seed: { type: 'string', default: '0' },
    iterations: { type: 'string', default: '80' },
    resume: { type: 'boolean', default: false },
  },
});
if (!existsSync(values.model)) {
  console.error(`There is no model at ${values.model}: pass the folder of a Llama checkpoint with --model.`);
  process.exit(1);
}

const start = performance.now();
/** Ctrl-C once stops after the step under way, twice at once. */
const controller = new AbortController();
const { signal } = controller;
process.on('SIGINT', () => (signal.aborted ? process.exit(130) : controller.abort(new Error('interrupted'))));

const engine = await createEngine();
const model = await loadModel(values.model);
const backend = await createOnnxBackend({ engine, model, learningRate: 5e-4 });
const sampler = await InferenceModule.create({
  backend: createOnnxSampler({ engine, model, maxSequences: 128 }),
});
const tasks = storyTasks(values.word, values.seed);
const heldOut = tasks.slice(0, 64);
const environment = new SimpleTextEnvironment<StoryWish>();
const rewards = rewardFunctions<StoryWish>({
  word: { reward: containsWord, weight: 0.45 },
  ending: { reward: endsCleanly, weight: 0.45 },
  freshness: { reward: freshness, weight: 0.1 },
});
const rollout = { seed: values.seed, groupSize: 8, sampling: { maxTokens: 96 } };
const iterations = Number(values.iterations);
const checkpoints = join(values.out, 'checkpoints');

/** Mean reward of sampled stories, and the first of them. */
async function measure(stories: readonly Task<StoryWish>[]) {
  const manager = new RolloutManager(
    { environment, sampler, tokenizer: model.tokenizer },
    { ...rollout, groupSize: 1, seed: 'held-out' },
  );
  const scored = [];
  for await (const group of manager.collectGroups(stories, { iteration: 0, signal })) {
    scored.push(...(await rewards.computeRewards(group)));
  }
  const mean = scored.reduce((sum, { reward }) => sum + (reward ?? 0), 0) / scored.length;
  const first = scored[0]?.trajectory;
  return { mean, story: `${String(first?.task.prompt)} ${first?.response}` };
}

/** GRPO from where an earlier run stopped, or from the start. Leaves a checkpoint, at Ctrl-C too. */
async function practise(): Promise<Metrics | undefined> {
  if (!values.resume) await rm(checkpoints, { recursive: true, force: true });
  const resume = values.resume ? await loadRun(checkpoints, backend, 'rl') : undefined;
  const logger = compositeLogger(
    new JsonlLogger({ path: join(values.out, 'metrics.jsonl') }),
    consoleLogger({ iterations, startedAt: resume?.iteration ?? 0, stream: process.stdout }),
  );
  const algorithm = new GRPOAlgorithm(
    {
      environment,
      tasks: taskSource(tasks.slice(64)),
      sampler,
      backend,
      tokenizer: model.tokenizer,
      rewards,
      logger,
    },
    {
      seed: values.seed,
      tasksPerIteration: 16,
      loss: { clipHigh: 0.28, klCoefficient: 0.1 },
      referenceKl: 'always',
      rollout,
    },
  );
  let metrics: Metrics | undefined;
  let state: RlState | undefined = resume;
  try {
    const run = algorithm.run({ iterations, resume, signal });
    for await (const report of run) ({ state, metrics } = report);
  } finally {
    await logger.close();
  }
  if (state !== undefined) await saveRun(checkpoints, backend, { kind: 'rl', state });
  return metrics;
}

async function learnToTell(): Promise<void> {
  const before = await measure(heldOut);
  const last = await practise();
  signal.throwIfAborted();
  const after = await measure(heldOut);
  await saveModel(join(values.out, 'checkpoint'), { ...model, weights: await backend.getWeights() });
  console.log(`\nBefore: ${before.story}\n\nAfter: ${after.story}\n`);
  console.log(
    `Mean reward of ${heldOut.length} held-out openings: ${before.mean.toFixed(3)} before, ${after.mean.toFixed(3)} after ` +
      `(${(after.mean / before.mean).toFixed(2)} times); KL to the pretrained model ` +
      `${(last?.['kl/reference'] ?? 0).toFixed(3)} nats per token; ${((performance.now() - start) / 1000).toFixed(0)} s.`,
  );
}

try {
  await learnToTell();
} catch (error) {
  if (!signal.aborted) throw error;
  console.log(`\nStopped. Continue with --resume; checkpoints are in ${checkpoints}.`);
  process.exitCode = 130;
} finally {
  await engine.close();
}
