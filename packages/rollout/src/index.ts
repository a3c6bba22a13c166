export {
  type CollectOptions,
  type CollectRolloutsOptions,
  type EpisodeState,
  requireCollectOptions,
} from './collect-options.ts';
export {
  createRolloutCoordinator,
  type RolloutCoordinator,
  type RolloutCoordinatorOptions,
  type RolloutPolicy,
} from './coordinator.ts';
export type { Encoding } from './episode/context.ts';
export type { RolloutDependencies } from './episode/group-context.ts';
export { type LastTurn, type NextView, nextPrompt, type TurnPrompt } from './episode/next-prompt.ts';
export { EventBus } from './events/event-bus.ts';
export { progressLine, type RolloutProgress, type RunningEpisode } from './events/progress.ts';
export { debugLogger, type RecordTrajectoriesOptions, recordTrajectories } from './events/sinks.ts';
export { groupNames } from './group-starts.ts';
export {
  type ResolvedRolloutOptions,
  type ResolvedRolloutSamplingOptions,
  type RolloutOptions,
  type RolloutSamplingOptions,
  requireAnswerRoom,
  resolveRolloutOptions,
  rolloutSchema,
} from './options.ts';
export { type GroupWorker, type GroupWorkerParts, groupWorker } from './pool/group-worker.ts';
export {
  type PooledRollouts,
  type PooledRolloutsOptions,
  pooledRollouts,
} from './pool/pooled-rollouts.ts';
export { trajectoriesFromJsonl, trajectoryFromLine, trajectoryToLine } from './records.ts';
export { RolloutManager } from './rollout-manager.ts';
export { RolloutCounter, type RolloutStatistics } from './statistics.ts';
export {
  type RolloutStream,
  type RolloutStreamOptions,
  type RolloutStreamState,
  rolloutStream,
  rolloutStreamStateSchema,
  type StreamedRollouts,
} from './stream/rollout-stream.ts';
export { type AgentRolloutDependencies, agentRollouts } from './worker/agent-rollouts.ts';
export {
  RLRolloutWorker,
  type RolloutWorkerDependencies,
  type WorkedEpisode,
} from './worker/rollout-worker.ts';
