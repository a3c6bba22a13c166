import { TabularBackend, type TabularOptions, TabularSampler } from '@rlp/backprop/tabular';
import {
  type Environment,
  RandomStream,
  type RewardComputer,
  type State,
  type Task,
  type TaskSource,
  type Tokenizer,
} from '@rlp/core';
import { RolloutManager } from '@rlp/rollout';
import type { ResumeOptions } from '../training/resume-options.ts';
import { rlDependencySchema } from './dependencies.ts';
import type { RlOptions } from './options.ts';
import type { RlDependencies, RlReport, RlState } from './protocol.ts';
import { runRlTraining } from './rl.ts';

const letters = 'abcdefg';

/** Each letter is a token; token 7 ends a completion. */
export const letterTokenizer: Tokenizer = {
  vocabularySize: 8,
  bosId: undefined,
  eosIds: [7],
  encode: (text) => [...text].map((letter) => letters.indexOf(letter)),
  decode: (tokens) => tokens.map((token) => letters[token] ?? '').join(''),
};

interface Metadata {
  readonly answer: string;
}

/** Shows a letter; the right answer is the next one in the alphabet. */
const environment: Environment<State, Metadata> = {
  reset: (task) => ({ prompt: task.prompt, response: '', stepCount: 0 }),
  buildPrompt: ({ prompt }) => prompt,
  updateState: (state, response) => ({ ...state, response, stepCount: state.stepCount + 1 }),
  isTerminal: ({ stepCount }) => stepCount > 0,
};

/** 1 for the right letter, else 0. */
const nextLetterReward: RewardComputer<Metadata> = {
  computeRewards: async ({ trajectories }) =>
    trajectories.map((trajectory) => {
      const reward = trajectory.response === trajectory.task.metadata.answer ? 1 : 0;
      return { trajectory, reward, components: { accuracy: reward } };
    }),
};

/** Tasks by their index, for ever. */
export function endlessTasks<Metadata>(taskAt: (index: number) => Task<Metadata>): TaskSource<Metadata> {
  let cursor = 0;
  return {
    get cursor() {
      return cursor;
    },
    take: (count) => Array.from({ length: count }, () => taskAt(cursor++)),
    seek: (to) => {
      cursor = to;
    },
  };
}

/** Letters a to f in an order of their own, for ever. */
function letterTasks(seed: string): TaskSource<Metadata> {
  return endlessTasks((index) => {
    const letter = RandomStream.named(seed, 'task', index).integer(6);
    return { id: `task-${index}`, prompt: letters[letter]!, metadata: { answer: letters[letter + 1]! } };
  });
}

/** Everything that the loop needs, from one seed. */
export function banditSetup(seed: string, training: Partial<TabularOptions> = {}) {
  const backend = new TabularBackend({ vocabularySize: 8, contextTokens: 1, learningRate: 0.2, ...training });
  const inference = new TabularSampler({ backend, tokenizer: letterTokenizer });
  const rollouts = new RolloutManager<State, Metadata>(
    { environment, sampler: inference, tokenizer: letterTokenizer },
    { seed, groupSize: 8, sampling: { maxTokens: 1 } },
  );
  return { backend, inference, rollouts, tasks: letterTasks(seed), rewards: nextLetterReward };
}

/** The parts of a setup that the loop takes. */
export function forLoop<Setup extends object>(setup: Setup): Setup {
  return Object.fromEntries(
    Object.entries(setup).filter(([name]) => name in rlDependencySchema.shape),
  ) as Setup;
}

/** The same parts as an algorithm takes them. */
export function forAlgorithm<
  Sampler,
  Parts extends { readonly inference: Sampler; readonly rollouts: unknown },
>({ inference, rollouts: _, ...parts }: Parts & { readonly inference: Sampler }) {
  return { ...parts, sampler: inference, environment, tokenizer: letterTokenizer };
}

/** {@link banditSetup} for an algorithm. */
export function algorithmSetup(seed: string, training: Partial<TabularOptions> = {}) {
  return forAlgorithm(banditSetup(seed, training));
}

/** Every report of a run. */
export async function collect<Metadata>(
  dependencies: RlDependencies<Metadata>,
  options: RlOptions & ResumeOptions<RlState>,
): Promise<RlReport<Metadata>[]> {
  const reports: RlReport<Metadata>[] = [];
  for await (const report of runRlTraining(dependencies, options)) reports.push(report);
  return reports;
}
