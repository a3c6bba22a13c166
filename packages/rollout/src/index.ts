export type { Encoding } from './context.ts';
export {
  createRolloutCoordinator,
  type RolloutCoordinator,
  type RolloutCoordinatorOptions,
  type RolloutPolicy,
} from './coordinator.ts';
export type { RolloutDependencies } from './group-context.ts';
export {
  type ResolvedRolloutOptions,
  type RolloutOptions,
  resolveRolloutOptions,
  rolloutSchema,
} from './options.ts';
export { trajectoriesFromJsonl, trajectoryFromLine, trajectoryToLine } from './records.ts';
export {
  type CollectOptions,
  type CollectRolloutsOptions,
  RolloutManager,
} from './rollout-manager.ts';
export type { RolloutStatistics } from './statistics.ts';
