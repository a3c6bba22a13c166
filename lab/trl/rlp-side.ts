import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GRPOAlgorithm, type GrpoDependencies, type GrpoOptions, RLOOAlgorithm } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import type {
  Completion,
  ForwardBackwardResult,
  InferenceEngine,
  OptimStepResult,
  RewardComputer,
  Sampler,
  TrainingBackend,
} from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { loadModel } from '@rlp/models';
import { readSafetensors } from '@rlp/models/safetensors';
import { createEngine } from '@rlp/onnx/runtime';
import type { TrlCase } from './cases.ts';

/** What both sides train on. */
export interface Job {
  /** Folder of the model. */
  readonly model: string;
  readonly learningRate: number;
  readonly updates: number;
  readonly maxTokens: number;
  readonly groups: readonly {
    readonly text: string;
    readonly prompt: readonly number[];
    readonly completions: readonly {
      readonly tokens: readonly number[];
      readonly rewards: Readonly<Record<string, number>>;
    }[];
  }[];
}

/** What a side reports of a case. */
export interface Outcome {
  readonly updates: readonly { readonly loss: number; readonly norm: number }[];
  readonly weights: ReadonlyMap<string, ArrayLike<number>>;
}

/** Gives the job's completions, with the logprobs of the weights in force. */
function scriptedSampler(backend: TrainingBackend, { groups }: Job, end: number): Sampler & InferenceEngine {
  let policyVersion = 1;
  return {
    accepts: ['shared'],
    get policyVersion() {
      return policyVersion;
    },
    sample: async ({ prompt, temperature = 1 }) => {
      const { completions } = groups.find((group) => group.prompt.join() === prompt.join())!;
      const sequences = completions.map(({ tokens }) => [...prompt, ...tokens]);
      const scores = await backend.logprobs(sequences, { temperature });
      return completions.map(
        ({ tokens }, member): Completion => ({
          tokens,
          behaviorLogprobs: Array.from(scores[member]!.logprobs.slice(prompt.length)),
          text: `${member}`,
          stopReason: tokens.at(-1) === end ? 'stop' : 'length',
          policyVersion,
        }),
      );
    },
    updateWeights: async ({ version }) => (policyVersion = version),
  };
}

function scriptedRewards({ groups }: Job, weights: Readonly<Record<string, number>>): RewardComputer {
  return {
    computeRewards: async ({ task, trajectories }) => {
      const { completions } = groups.find(({ text }) => text === task.prompt)!;
      return trajectories.map((trajectory, member) => {
        const components = completions[member]!.rewards;
        const reward = Object.entries(weights).reduce((sum, [name, w]) => sum + w * components[name]!, 0);
        return { trajectory, reward, components };
      });
    },
  };
}

/** Losses and gradient norms of every update that a backend makes. */
function watched(backend: TrainingBackend) {
  const passes: ForwardBackwardResult[] = [];
  const updates: OptimStepResult[] = [];
  const forwardBackward = backend.forwardBackward.bind(backend);
  const optimStep = backend.optimStep.bind(backend);
  backend.forwardBackward = (batch, loss) => {
    const result = forwardBackward(batch, loss);
    void result.then((pass) => passes.push(pass));
    return result;
  };
  backend.optimStep = () => {
    const result = optimStep();
    void result.then((update) => updates.push(update));
    return result;
  };
  return () => updates.map(({ gradientNorm }, index) => ({ loss: passes[index]!.loss, norm: gradientNorm }));
}

/** Trains a case with rlp and reads back the weights that it saves in `folder`. */
export async function trainWithRlp(
  job: Job,
  { trainer, rlp, optimizer, rewards }: TrlCase,
  folder: string,
): Promise<Outcome> {
  const engine = await createEngine({ threads: 1 });
  try {
    const model = await loadModel(job.model);
    const { learningRate, groups } = job;
    const backend = await createOnnxBackend({
      engine,
      model,
      learningRate,
      tokensPerMicroBatch: 65_536,
      ...(optimizer && { optimizer }),
    });
    const made = watched(backend);
    const environment = new SimpleTextEnvironment({ prompts: groups.map(({ text }) => text) });
    const dependencies = {
      environment,
      tokenizer: model.tokenizer,
      tasks: taskSource(environment.tasks),
      sampler: scriptedSampler(backend, job, model.tokenizer.eosIds[0]!),
      rewards: scriptedRewards(job, rewards ?? { first: 1 }),
      backend,
    } as unknown as GrpoDependencies;
    const { rollout, epochs = job.updates, ...own } = rlp;
    const groupSize = groups[0]!.completions.length;
    const options = {
      preset: 'trl',
      tasksPerIteration: groups.length,
      epochs,
      rollout: { groupSize, ...rollout, sampling: { maxTokens: job.maxTokens, ...rollout?.sampling } },
      ...own,
    } as GrpoOptions & { preset: 'trl' };
    const algorithm =
      trainer === 'grpo'
        ? new GRPOAlgorithm(dependencies, options)
        : new RLOOAlgorithm(dependencies, options);
    await algorithm.train({ iterations: job.updates / epochs, print: 'none' });
    await backend.saveCheckpoint(folder);
    return { updates: made(), weights: await weightsIn(join(folder, 'model.safetensors')) };
  } finally {
    await engine.close();
  }
}

/** Values of every tensor of a file. */
export async function weightsIn(path: string): Promise<Map<string, ArrayLike<number>>> {
  const tensors = await readSafetensors(path);
  return new Map([...tensors].map(([name, { data }]) => [name, data]));
}

/** What TRL wrote of a case, or why it failed. */
export async function outcomeOfTrl(
  folder: string,
  name: string,
): Promise<Outcome | { readonly error: string }> {
  const report = JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'));
  if (report.error !== undefined) return { error: report.error };
  return { updates: report.updates, weights: await weightsIn(join(folder, `${name}.safetensors`)) };
}
