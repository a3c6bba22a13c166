import type { Environment, Message, State, Task } from '@rlp/core';

/** Answers a prompt: a policy, reduced to what single use of an environment needs. */
export type Generate = (prompt: string | readonly Message[]) => string | Promise<string>;

/**
 * Start of an environment of one's own: define `reset` and `isTerminal`, override the rest where it differs.
 *
 * States are values: methods return new states and keep nothing in `this` that an episode could change.
 */
export abstract class BaseEnvironment<S extends State = State, Metadata = unknown>
  implements Environment<S, Metadata>
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

  /**
   * One turn: builds the prompt, lets `generate` answer, updates the state. For trying an environment out and for
   * evaluation by hand; training goes through a rollout manager, which batches.
   */
  async step(state: S, generate: Generate): Promise<S> {
    return this.updateState(state, await generate(this.buildPrompt(state)));
  }
}
