import type { Environment, RolloutSink, Sampler, State, Task, Trajectory, Watchdog } from '@rlp/core';
import type { EventBus } from '../events/event-bus.ts';
import type { TokenMeter } from '../events/token-meter.ts';
import type { ResolvedRolloutOptions } from '../options.ts';
import type { Pace } from '../pace.ts';
import type { Encoding } from './context.ts';
import type { GuardedEnvironment } from './guarded.ts';
import type { Member } from './member.ts';

/** Dependencies of rollouts. */
export interface RolloutDependencies<S extends State = State, Metadata = unknown, Outcome = unknown>
  extends Encoding {
  /** The world that the policy acts in. */
  readonly environment: Environment<S, Metadata, Outcome>;
  /** Policy that samples the responses. */
  readonly sampler: Sampler;
  /** Milliseconds since any fixed point, such as `() => performance.now()`. By default steps have no `timing`. */
  readonly clock?: (() => number) | undefined;
  /** Receives the events of all episodes. It cannot slow them or make them fail. Default none. */
  readonly onEvent?: RolloutSink | readonly RolloutSink[] | undefined;
}

/** Where the episodes of a group begin. */
export interface GroupStart<S extends State, Metadata, Outcome> {
  readonly task: Task<Metadata>;
  /** Unique within a run. Names the group, its members and their random streams. */
  readonly groupId: string;
  /** State that every member begins in. Default: what the environment's `reset` returns. */
  readonly state?: S | undefined;
  /** Members that another collection began, by their place. The others start anew. */
  readonly carried?: ReadonlyMap<number, Trajectory<Metadata, Outcome>> | undefined;
}

/** What the episodes of one group share. */
export interface GroupContext<S extends State, Metadata, Outcome> extends GroupStart<S, Metadata, Outcome> {
  readonly dependencies: RolloutDependencies<S, Metadata, Outcome>;
  readonly environment: GuardedEnvironment<S, Metadata, Outcome>;
  readonly options: ResolvedRolloutOptions;
  readonly signal: AbortSignal;
  /** Watches the requests of all groups. */
  readonly watchdog: Watchdog;
  readonly events: EventBus;
  /** Counts the tokens that the sampler returns. */
  readonly meter: TokenMeter;
  /** Keeps turns that are due at once from holding up the event loop. */
  readonly pace: Pace;
  /** The episodes as they stand, one per member. */
  readonly members: Member<S, Metadata, Outcome>[];
  /** Called when an episode ends, before its group does. */
  readonly onEnded?: ((trajectory: Trajectory<Metadata, Outcome>) => void) | undefined;
}

/** One episode of a group. */
export interface Episode<S extends State, Metadata, Outcome> {
  readonly context: GroupContext<S, Metadata, Outcome>;
  /** Its place in the group. */
  readonly index: number;
  readonly member: Member<S, Metadata, Outcome>;
}

/** The episodes of a group, in the order of its members. */
export function episodesOf<S extends State, Metadata, Outcome>(
  context: GroupContext<S, Metadata, Outcome>,
): Episode<S, Metadata, Outcome>[] {
  return context.members.map((member, index) => ({ context, index, member }));
}
