import { readFile } from 'node:fs/promises';
import { GRPOAlgorithm } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import type { RewardFunction } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler } from '@rlp/inference';
import { loadModel } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';
import { type Measurement, type MeasureOptions, peakMebibytes } from '../measurement.ts';
import type { IterationJob } from './job.ts';

const sampledTokens = (steps: readonly { readonly tokens: readonly number[] }[]) =>
  steps.flatMap(({ tokens }) => tokens);

/** Share of tokens with an even number: differs within every group and costs nothing. */
const evenTokens: RewardFunction = ({ steps }) => {
  const tokens = sampledTokens(steps);
  return tokens.filter((token) => token % 2 === 0).length / tokens.length;
};

/** Whole iterations of GRPO as a user makes them: sampling, rewards, advantages, one update, publication. */
export async function measureIteration(path: string, options: MeasureOptions): Promise<Measurement> {
  const job: IterationJob = JSON.parse(await readFile(path, 'utf8'));
  const engine = await createEngine({ threads: options.threads, executionProvider: options.provider });
  const grpo = await algorithmOf(job, engine, options.weights);
  const milliseconds: number[] = [];
  const processorMilliseconds: number[] = [];
  const tokens: number[] = [];
  let [start, before] = [performance.now(), process.cpuUsage()];
  for await (const { iteration, groups } of grpo.run({ iterations: options.warmup + options.runs })) {
    const { user, system } = process.cpuUsage(before);
    if (iteration >= options.warmup) {
      milliseconds.push(performance.now() - start);
      processorMilliseconds.push((user + system) / 1000);
      const trajectories = groups.flatMap(({ scored }) => scored.map(({ trajectory }) => trajectory));
      tokens.push(trajectories.flatMap(({ steps }) => sampledTokens(steps)).length);
    }
    [start, before] = [performance.now(), process.cpuUsage()];
  }
  await engine.close();
  return {
    milliseconds,
    processorMilliseconds,
    tokens: tokens.reduce((sum, count) => sum + count, 0) / tokens.length,
    peakRssMiB: peakMebibytes(),
    extra: {},
  };
}

async function algorithmOf(job: IterationJob, engine: Engine, weights: MeasureOptions['weights']) {
  const { prompts, groupSize, promptTokens, maxTokens, learningRate } = job;
  const model = await loadModel(job.model);
  const backend = await createOnnxBackend({ engine, model, learningRate });
  const maxSequences = prompts * groupSize;
  const contextLength = promptTokens + 16 + maxTokens;
  const sampler = await createOnnxSampler({ engine, model, maxSequences, contextLength, weights });
  const environment = new SimpleTextEnvironment({ prompts: job.texts });
  const { tokenizer } = model;
  const tasks = taskSource(environment.tasks, { shuffle: 'none' });
  return new GRPOAlgorithm(
    { environment, tasks, sampler, backend, tokenizer, rewards: rewardFunctions({ evenTokens }) },
    { preset: 'trl', tasksPerIteration: prompts, rollout: { groupSize, sampling: { maxTokens } } },
  );
}
