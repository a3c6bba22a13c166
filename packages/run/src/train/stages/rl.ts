import {
  DAPOAlgorithm,
  DrGRPOAlgorithm,
  GiGPOAlgorithm,
  GRPOAlgorithm,
  GSPOAlgorithm,
  type PolicyAlgorithm,
  PPOAlgorithm,
  type PpoDependencies,
  REINFORCEAlgorithm,
  RLOOAlgorithm,
  type RlState,
} from '@rlp/algorithms';
import type { State } from '@rlp/core';
import { createDefaultMonitor } from '@rlp/quality-monitor';
import type { AnswerMetadata } from '../../config/stock-rewards.ts';
import { tasksOf } from '../environment.ts';
import type { PreparedRun } from '../prepare.ts';
import { responseTags } from '../response-tags.ts';
import type { Stage, StageContext } from './stage.ts';

type Dependencies = PpoDependencies<State, AnswerMetadata>;

/** Makes an algorithm from its dependencies and options. */
type Create = (dependencies: Dependencies, options: object) => PolicyAlgorithm<State, AnswerMetadata>;

/** Dependencies without the critic, which only PPO takes. */
const uncritical = ({ critic: _, ...dependencies }: Dependencies) => dependencies;

const algorithms = {
  grpo: (dependencies, options) => new GRPOAlgorithm(uncritical(dependencies), options),
  ppo: (dependencies, options) => new PPOAlgorithm(dependencies, options),
  rloo: (dependencies, options) => new RLOOAlgorithm(uncritical(dependencies), options),
  reinforce: (dependencies, options) => new REINFORCEAlgorithm(uncritical(dependencies), options),
  dapo: (dependencies, options) => new DAPOAlgorithm(uncritical(dependencies), options),
  'dr-grpo': (dependencies, options) => new DrGRPOAlgorithm(uncritical(dependencies), options),
  gspo: (dependencies, options) => new GSPOAlgorithm(uncritical(dependencies), options),
  gigpo: (dependencies, options) => new GiGPOAlgorithm(uncritical(dependencies), options),
} satisfies Readonly<Record<string, Create>>;

/** What the configuration gives the algorithm. The algorithm layers its own defaults below it. */
function optionsOf({ given, config: { seed } }: PreparedRun) {
  const { name = 'grpo', iterations = 100, backend: _, ...options } = given.algorithm ?? {};
  return { name, iterations, options: { seed, ...options, rollout: { seed, ...options.rollout } } };
}

function dependenciesOf({
  prepared,
  policy: { backend, inference },
  model,
  clock,
}: StageContext): Dependencies {
  const { environment, rows, rewards, config } = prepared;
  return {
    ...{ environment, rewards, backend, clock },
    tasks: tasksOf(rows.practised, config.seed),
    sampler: inference,
    tokenizer: model.tokenizer,
    chat: model.chat,
    critic: backend,
    ...(config.monitor === 'default' && {
      monitor: createDefaultMonitor({ console: 'off', assessor: { tags: responseTags(config.rewards) } }),
    }),
  };
}

/** Practises on the rewards. */
export const rlStage: Stage = {
  label: 'RL',
  kind: 'rl',
  learningRate: 1e-6,
  backend({ config: { algorithm } }) {
    const valueHead = algorithm?.name === 'ppo' ? ({ valueHead: 'linear' } as const) : {};
    return { ...valueHead, ...algorithm?.backend };
  },
  plan(prepared, { config }) {
    const { iterations, options } = optionsOf(prepared);
    const { epochs = 1, minibatches = 1, tasksPerIteration = 8, rollout } = options;
    const { groupSize = 8, sampling } = rollout as { groupSize?: number; sampling?: { maxTokens?: number } };
    const length = Math.min(config.contextLength, 2 * (sampling?.maxTokens ?? 256));
    const batch = { rows: Math.ceil((tasksPerIteration * groupSize) / minibatches), length };
    return { iterations, updates: iterations * epochs * minibatches, notes: [], batch };
  },
  reports(context, { iterations }) {
    const { name, options } = optionsOf(context.prepared);
    const create: Create = algorithms[name];
    const { signal, resume, onInterrupted } = context;
    const algorithm = create(dependenciesOf(context), options);
    return algorithm.run({ iterations, signal, onInterrupted, resume: resume as RlState | undefined });
  },
};
