import {
  type AlgorithmOptions,
  algorithmOptions,
  DAPOAlgorithm,
  DrGRPOAlgorithm,
  GiGPOAlgorithm,
  GRPOAlgorithm,
  type GroupCollector,
  GSPOAlgorithm,
  type PolicyAlgorithm,
  PPOAlgorithm,
  type PpoCollectedDependencies,
  type PpoDependencies,
  REINFORCEAlgorithm,
  RLOOAlgorithm,
  type RlState,
} from '@rlp/algorithms';
import type { State } from '@rlp/core';
import { createDefaultMonitor } from '@rlp/quality-monitor';
import type { RolloutOptions } from '@rlp/rollout';
import type { CapturedRollouts } from '@rlp/serve/capture';
import type { AnswerMetadata } from '../../config/stock-rewards.ts';
import { showsRows, tasksOf } from '../environment.ts';
import type { PreparedRun } from '../prepare.ts';
import { responseTags } from '../response-tags.ts';
import { collectAgent } from '../run-agent.ts';
import { longestAnswers } from './largest-update.ts';
import type { Stage, StageContext } from './stage.ts';

type Dependencies = PpoDependencies<State, AnswerMetadata> | PpoCollectedDependencies<AnswerMetadata>;

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
  const rollout = { seed: options.seed ?? seed, ...options.rollout };
  return { name, iterations, options: { seed, ...options, rollout } };
}

function dependenciesOf(
  { prepared, policy: { backend, inference }, model, clock }: StageContext,
  rollouts: ((options: RolloutOptions) => GroupCollector<AnswerMetadata>) | undefined,
): Dependencies {
  const { environment, rows, rewards, config } = prepared;
  const shared = {
    ...{ rewards, backend, clock },
    tasks: tasksOf(rows.practised, config.seed),
    sampler: inference,
    critic: backend,
    ...(config.monitor === 'default' && {
      monitor: createDefaultMonitor({ console: 'off', assessor: { tags: responseTags(config.rewards) } }),
    }),
  };
  if (rollouts !== undefined) return { ...shared, rollouts };
  return { ...shared, environment, tokenizer: model.tokenizer, chat: model.chat };
}

async function* practised(context: StageContext, iterations: number) {
  const { prepared, policy, model, clock, signal, resume, onInterrupted } = context;
  const { agent } = prepared;
  const { name, options } = optionsOf(prepared);
  const create: Create = algorithms[name];
  let collector: CapturedRollouts<AnswerMetadata> | undefined;
  const collect = (rollout: RolloutOptions) => {
    collector = collectAgent(agent!, { inference: policy.inference, model, clock }, rollout);
    return collector;
  };
  try {
    const algorithm = create(dependenciesOf(context, agent && collect), options);
    yield* algorithm.run({ iterations, signal, onInterrupted, resume: resume as RlState | undefined });
  } finally {
    await collector?.close();
  }
}

/** Optimizer steps of an iteration. No minibatch is empty, and an answer to a row is one sequence. Episodes of several turns may be more. */
function updatesPerIteration(
  { environment, agent }: PreparedRun,
  { epochs = 1, minibatches = 1, tasksPerIteration = 8, rollout }: AlgorithmOptions,
): number {
  const isOneEach = agent === undefined && showsRows(environment);
  const answers = isOneEach ? tasksPerIteration * (rollout?.groupSize ?? 8) : Number.POSITIVE_INFINITY;
  return epochs * Math.min(minibatches, answers);
}

/** Practises on the rewards. */
export const rlStage: Stage = {
  label: 'RL',
  kind: 'rl',
  learningRate: 1e-6,
  backend({ given: { algorithm } }) {
    const valueHead = algorithm?.name === 'ppo' ? ({ valueHead: 'linear' } as const) : {};
    return { ...valueHead, ...algorithm?.backend };
  },
  plan(prepared, model) {
    const { name, iterations, options } = optionsOf(prepared);
    const all = algorithmOptions(name, options as AlgorithmOptions);
    const { minibatches = 1, tasksPerIteration: tasks = 8, rollout = {} } = all;
    const largest = () => longestAnswers(prepared, model, { tasks, rollout, minibatches });
    const updates = iterations * updatesPerIteration(prepared, all);
    return { iterations, updates, notes: [], largest, data: undefined };
  },
  reports: (context, { iterations }) => practised(context, iterations),
};
