import type { Environment, Message, State, Task, Termination } from '@rlp/core';

/** Answers a prompt: a policy, reduced to what single use of an environment needs. */
export type Generate = (prompt: string | readonly Message[]) => string | Promise<string>;

/**
 * Base class of your own environments: define `reset` and `isTerminal`, and override what differs.
 *
 * States are values: methods return new states and keep nothing in `this` that an episode could change.
 */
export abstract class BaseEnvironment<S extends State = State, Metadata = unknown, Outcome = unknown>
  implements Environment<S, Metadata, Outcome>
{
  /** First state of an episode: `{ prompt, response: '', stepCount: 0 }` and what the environment needs besides. */
  abstract reset(task: Task<Metadata>, seed: number): S | Promise<S>;

  /** Whether the episode is over. */
  abstract isTerminal(state: S): boolean;

  /** What the policy sees. Default: the state's prompt. */
  buildPrompt(state: S): string | readonly Message[] {
    return state.prompt;
  }

  /** The state after a response. Default: the same state with the response kept and counted. */
  updateState(state: S, response: string): S | Promise<S> {
    return { ...state, response, stepCount: state.stepCount + 1 };
  }

  /** Equal for states that are the same to the policy. Default: the environment has no keys. */
  stateKey?(state: S): string;

  /** Everything said so far. Default: what `buildPrompt` shows last, as far as it continues the conversation. */
  transcript?(state: S): readonly Message[];

  /** Result of an episode that ends in this state, for rewards: `trajectory.outcome`. Default: none. */
  outcome?(state: S): Outcome;

  /** Numbers about an episode that ends in this state: `trajectory.metrics`. Default: none. */
  metrics?(state: S): Readonly<Record<string, number>>;

  /** Why a terminal state is the end. Default: `{ reason: 'environment' }`. */
  termination?(state: S): Termination;

  /**
   * One turn: builds the prompt, lets `generate` answer, updates the state. For trying an environment out and for
   * evaluation by hand; training goes through a rollout manager, which batches.
   */
  async step(state: S, generate: Generate): Promise<S> {
    return this.updateState(state, await generate(this.buildPrompt(state)));
  }
}
