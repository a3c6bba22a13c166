import { readFileSync } from 'node:fs';
import { TabularBackend } from '@rlp/backprop/tabular';
import type {
  Completion,
  Environment,
  ForwardBackwardResult,
  InferenceEngine,
  OptimStepResult,
  RewardComputer,
  Sampler,
  TrainingBatch,
} from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { endlessTasks, letterTokenizer } from '../loop/bandit.fixture.ts';
import { GRPOAlgorithm } from './grpo.ts';
import type { AlgorithmOptions } from './options.ts';
import { PPOAlgorithm, type PpoDependencies } from './ppo.ts';
import { REINFORCEAlgorithm } from './reinforce.ts';
import { RLOOAlgorithm } from './rloo.ts';

interface Answer {
  readonly prompt: number;
  /** Of one turn, or of two with what the environment says in between. */
  readonly tokens: readonly number[];
  /** 0 where the environment speaks. */
  readonly mask: readonly number[];
  /** ln π − ln π_b of each token. */
  readonly gaps: readonly number[];
  readonly reward: number;
}

interface Update {
  readonly loss: number;
  readonly norm: number;
}

/** What a project made of the answers, by `fixtures/preset_steps.py`. */
interface Run {
  readonly preset: string;
  readonly algorithm: 'grpo' | 'ppo' | 'rloo' | 'reinforce';
  readonly learningRate: number;
  readonly minibatches: number;
  readonly epochs: number;
  readonly steps: readonly {
    readonly advantages: readonly (readonly number[])[];
    readonly policy: readonly Update[];
    readonly critic?: readonly Update[];
  }[];
  readonly policy: readonly (readonly number[])[];
  readonly critic: readonly number[];
}

const fixture = new URL('../../fixtures/testdata/preset-steps.json', import.meta.url);
const { inputs, runs } = JSON.parse(readFileSync(fixture, 'utf8')) as {
  readonly inputs: {
    readonly policy: readonly (readonly number[])[];
    readonly reference: readonly (readonly number[])[];
    readonly iterations: readonly (readonly Answer[])[];
  };
  readonly runs: readonly Run[];
};

const vocabularySize = 6;
const groups = 4;
const members = 4;

const tableOf = (rows: readonly (readonly number[])[]) =>
  new Map([['logits', { shape: [rows.length, vocabularySize], data: Float32Array.from(rows.flat()) }]]);

/** What the environment says between two turns, after an answer that ends with an odd token. */
const interjection = 'fa';

const environment: Environment = {
  reset: ({ prompt }) => ({ prompt, response: '', stepCount: 0 }),
  buildPrompt: ({ prompt }) => String(prompt),
  updateState: (state, response) => ({
    prompt: `${state.prompt}${response}${interjection}`,
    response,
    stepCount: state.stepCount + 1,
  }),
  isTerminal: ({ response, stepCount }) =>
    stepCount === 2 || (stepCount === 1 && letterTokenizer.encode(response).at(-1)! % 2 === 0),
};

/** Goes on with what the fixture has after each prompt, with logprobs of a sampler that is off by the gaps. */
function scriptedSampler(backend: TabularBackend): Sampler & InferenceEngine {
  const complete = async (from: number, { prompt, tokens, mask, gaps }: Answer): Promise<Completion> => {
    const [scores] = await backend.logprobs([[prompt, ...tokens]]);
    const end = mask.indexOf(0, from);
    const drawn = tokens.slice(from, end < 0 ? undefined : end);
    return {
      tokens: drawn,
      behaviorLogprobs: drawn.map((_, t) => scores!.logprobs[from + t + 1]! - gaps[from + t]!),
      text: letterTokenizer.decode(drawn),
      stopReason: 'stop',
      policyVersion: backend.weightVersion,
    };
  };
  return {
    accepts: ['shared'],
    get policyVersion() {
      return backend.weightVersion;
    },
    sample: ({ prompt }) => {
      const answers = inputs.iterations[backend.weightVersion - 1]!.filter(({ prompt: first, tokens }) =>
        prompt.every((token, t) => token === (t === 0 ? first : tokens[t - 1])),
      );
      return Promise.all(answers.map((answer) => complete(prompt.length - 1, answer)));
    },
    updateWeights: async ({ version }) => version,
  };
}

/** The rewards of the fixture, by the prompt and the place in the group. */
function scriptedRewards(backend: TabularBackend): RewardComputer {
  return {
    computeRewards: async ({ task, trajectories }) => {
      const answers = inputs.iterations[backend.weightVersion - 1]!;
      const first = answers.findIndex(
        ({ prompt }) => prompt === letterTokenizer.encode(String(task.prompt))[0],
      );
      return trajectories.map((trajectory, member) => {
        return { trajectory, reward: answers[first + member]!.reward, components: {} };
      });
    },
  };
}

/** Losses, gradient norms and batches of every update that a backend makes. */
function watched(backend: TabularBackend) {
  const passes: ForwardBackwardResult[] = [];
  const batches: TrainingBatch[] = [];
  const updates: OptimStepResult[] = [];
  const forwardBackward = backend.forwardBackward.bind(backend);
  const optimStep = backend.optimStep.bind(backend);
  backend.forwardBackward = (batch, loss) => {
    const result = forwardBackward(batch, loss);
    batches.push(batch);
    void result.then((pass) => passes.push(pass));
    return result;
  };
  backend.optimStep = () => {
    const result = optimStep();
    void result.then((update) => updates.push(update));
    return result;
  };
  const made = () => passes.map(({ loss }, index) => ({ loss, norm: updates[index]!.gradientNorm }));
  return { made, batches };
}

const algorithms = {
  grpo: GRPOAlgorithm,
  ppo: PPOAlgorithm,
  rloo: RLOOAlgorithm,
  reinforce: REINFORCEAlgorithm,
};

async function train({ preset, algorithm, learningRate, minibatches, epochs }: Run) {
  const shape = { vocabularySize, contextTokens: 1, optimizer: 'sgd' } as const;
  const backend = new TabularBackend({ ...shape, learningRate });
  const critic = new TabularBackend({ ...shape, learningRate: learningRate / 8, valueHead: 'linear' });
  await backend.loadWeights(tableOf(inputs.reference));
  await backend.updateReference({ method: 'copy' });
  await backend.loadWeights(tableOf(inputs.policy));
  const [policyWatch, criticWatch] = [watched(backend), watched(critic)];
  const setup = {
    environment,
    tokenizer: { ...letterTokenizer, vocabularySize },
    tasks: endlessTasks((index) => ({
      id: `${index}`,
      prompt: 'abcd'[index % groups]!,
      metadata: undefined,
    })),
    sampler: scriptedSampler(backend),
    rewards: scriptedRewards(backend),
    backend,
    ...(algorithm === 'ppo' && { critic }),
  } as PpoDependencies;
  const options = {
    preset: preset as never,
    seed: 'steps',
    tasksPerIteration: groups,
    minibatches,
    epochs,
    rollout: { groupSize: members, maxTurns: 2 },
  } satisfies AlgorithmOptions & { preset: never };
  const { history } = await new algorithms[algorithm](setup, options).train({ iterations: 2 });
  const logits = (await backend.getWeights()).get('logits')!.data;
  const states = Array.from({ length: vocabularySize }, (_, token) => [token]);
  const values = (await critic.values(states)).map((row) => row[1]!);
  return { history, policyWatch, criticWatch, logits, values };
}

/** As float32 tables and columns have it. */
function expectClose(got: ArrayLike<number>, expected: readonly number[]): void {
  expect(got).toHaveLength(expected.length);
  const largest = Math.max(
    ...expected.map((value, index) => Math.abs(got[index]! - value) / (1 + Math.abs(value))),
  );
  expect(largest).toBeLessThan(3e-6);
}

const flat = (updates: readonly Update[]) => updates.flatMap(({ loss, norm }) => [loss, norm]);

describe('two iterations with a preset are those of the project', () => {
  it.each(runs)('$preset $algorithm: advantages, losses, gradients, weights', async (run) => {
    const { history, policyWatch, criticWatch, logits, values } = await train(run);

    const expected = run.steps.flatMap(({ advantages }, iteration) =>
      inputs.iterations[iteration]!.map(
        ({ prompt, tokens }, row) => [[prompt, ...tokens].join(), advantages[row]!] as const,
      ),
    );
    const got = policyWatch.batches.flatMap(({ sequences }) => sequences);
    expect(got).toHaveLength(expected.length * run.epochs);
    for (const { tokens, mask, columns } of got) {
      const candidates = expected.filter(([key]) => key === tokens.join()).map(([, row]) => row);
      const distances = candidates.map((row) =>
        Math.max(...row.map((x, t) => mask[t + 1]! * Math.abs(columns.advantages![t + 1]! - x))),
      );
      expect(Math.min(...distances)).toBeLessThan(1e-6);
    }
    expectClose(
      flat(policyWatch.made()),
      run.steps.flatMap(({ policy }) => flat(policy)),
    );
    expectClose(
      flat(criticWatch.made()),
      run.steps.flatMap(({ critic = [] }) => flat(critic)),
    );
    expectClose(logits, run.policy.flat());
    expectClose(values, run.critic.slice(1));
    const clipped = history.map((metrics) => (metrics['clip/low'] ?? 0) + (metrics['clip/high'] ?? 0));
    if (run.minibatches * run.epochs > 1) expect(Math.max(...clipped)).toBeGreaterThan(0);
  });
});
