import type { Environment, Sampler, State, Task, Watchdog } from '@rlp/core';
import type { Encoding } from './context.ts';
import type { GuardedEnvironment } from './guarded.ts';
import type { ResolvedRolloutOptions } from './options.ts';

/** What a rollout runs on. */
export interface RolloutDependencies<S extends State = State, Metadata = unknown, Outcome = unknown>
  extends Encoding {
  /** The world that the policy acts in. */
  readonly environment: Environment<S, Metadata, Outcome>;
  /** Policy that samples the responses. */
  readonly sampler: Sampler;
  /** Milliseconds since any fixed point, such as `() => performance.now()`. By default steps have no `timing`. */
  readonly clock?: (() => number) | undefined;
}

/** Everything the episodes of one group have in common. */
export interface GroupContext<S extends State, Metadata, Outcome> {
  readonly dependencies: RolloutDependencies<S, Metadata, Outcome>;
  readonly environment: GuardedEnvironment<S, Metadata, Outcome>;
  readonly options: ResolvedRolloutOptions;
  readonly signal: AbortSignal;
  /** Watches the requests of all groups. */
  readonly watchdog: Watchdog;
  readonly task: Task<Metadata>;
  /** Unique within a run. Names the group, its members and their random streams. */
  readonly groupId: string;
}
