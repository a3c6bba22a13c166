import type { Message } from './message.ts';
import type { Task } from './task.ts';
import type { ToolSchema } from './tool-schema.ts';
import type { Termination } from './trajectory.ts';
import type { WorldPoolStatistics } from './world.ts';

/** What every environment state carries. Environments add their own fields. All of it is immutable data. */
export interface State {
  readonly prompt: string | readonly Message[];
  /** The policy's last response. Empty before the first. */
  readonly response: string;
  /** Responses taken so far. */
  readonly stepCount: number;
}

/** What an environment may use while it answers. */
export interface EnvironmentContext {
  /** Fires when the run is stopped or the time limit is over. */
  readonly signal?: AbortSignal | undefined;
  /** Tokens of the response that the policy sampled. Absent if nobody counted, and at the start of an episode. */
  readonly tokens?: number | undefined;
}

/**
 * A world in which a policy acts. It computes no rewards and talks to no sampler.
 *
 * **States are values.** Every method is a function of its arguments. So an episode can be forked, replayed and
 * grouped from any state, and one environment serves any number of episodes at once. States must survive
 * `structuredClone`. A method that throws fails its own episode, never its siblings.
 *
 * Four methods are required. The others say more about an episode, and each may be left out.
 */
export interface Environment<S extends State = State, Metadata = unknown, Outcome = unknown> {
  /** Changes when stored states no longer fit. An unfinished episode of another version is not continued. Default none. */
  readonly version?: string | undefined;
  /** Pools of live worlds that the episodes share. A rollout reports their counts and leaks. Default none. */
  readonly pools?: readonly { getStatistics(): WorldPoolStatistics }[] | undefined;
  /** First state of an episode. Equal arguments give equal states. */
  reset(task: Task<Metadata>, seed: number, context?: EnvironmentContext): S | Promise<S>;
  /** What the policy sees in this state. Text for a plain completion, messages for a chat template. */
  buildPrompt(state: S): string | readonly Message[];
  /** The state after the policy answered `response`. Never mutates `state`. */
  updateState(state: S, response: string, context?: EnvironmentContext): S | Promise<S>;
  /** Whether the episode is over. */
  isTerminal(state: S): boolean;
  /** Tools that the policy may call in this state. A rollout passes them to the chat template. */
  tools?(state: S): readonly ToolSchema[];
  /** Equal for states that are the same to the policy. GiGPO groups steps by it. */
  stateKey?(state: S): string;
  /**
   * Everything said so far, the environment's last words included. An assistant message per response, with its `tool_calls`.
   * By default what `buildPrompt` shows in the last state, if it continues the conversation.
   */
  transcript?(state: S): readonly Message[];
  /** Result of an episode that ends in this state, by itself or by a limit. Rewards read it as `trajectory.outcome`. */
  outcome?(state: S): Outcome;
  /** Numbers about an episode that ends in this state, such as calls made. They become `trajectory.metrics`. */
  metrics?(state: S): Readonly<Record<string, number>>;
  /** Why the episode is over, asked of terminal states only. Default `{ reason: 'environment' }`. */
  termination?(state: S): Termination;
}
