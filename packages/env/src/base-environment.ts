import type {
  Environment,
  EnvironmentContext,
  Message,
  State,
  Task,
  Termination,
  ToolSchema,
} from '@rlp/core';

/** Answers a prompt. The smallest policy that an environment can be tried with. */
export type Generate = (prompt: string | readonly Message[]) => string | Promise<string>;

/**
 * Base class for environments. Define `reset` and `isTerminal`, and override what differs.
 *
 * States are values. Methods return new states and keep nothing in `this` that an episode could change.
 */
export abstract class BaseEnvironment<S extends State = State, Metadata = unknown, Outcome = unknown>
  implements Environment<S, Metadata, Outcome>
{
  /** First state of an episode: `{ prompt, response: '', stepCount: 0 }` and what the environment needs besides. */
  abstract reset(task: Task<Metadata>, seed: number, context?: EnvironmentContext): S | Promise<S>;

  /** Whether the episode is over. */
  abstract isTerminal(state: S): boolean;

  /** What the policy sees. Default is the prompt of the state. */
  buildPrompt(state: S): string | readonly Message[] {
    return state.prompt;
  }

  /** The state after a response. Default is the same state with the response stored and counted. */
  updateState(state: S, response: string, _context?: EnvironmentContext): S | Promise<S> {
    return { ...state, response, stepCount: state.stepCount + 1 };
  }

  /** Tools that the policy may call in this state. Default none. */
  tools?(state: S): readonly ToolSchema[];

  /** Equal for states that are the same to the policy. By default the environment has no keys. */
  stateKey?(state: S): string;

  /** Everything said so far. By default what `buildPrompt` shows last, if it continues the conversation. */
  transcript?(state: S): readonly Message[];

  /** Result of an episode that ends in this state. Rewards read it as `trajectory.outcome`. Default none. */
  outcome?(state: S): Outcome;

  /** Numbers about an episode that ends in this state. They become `trajectory.metrics`. Default none. */
  metrics?(state: S): Readonly<Record<string, number>>;

  /** Why a terminal state is the end. Default `{ reason: 'environment' }`. */
  termination?(state: S): Termination;

  /**
   * Runs one turn. Builds the prompt, lets `generate` answer, updates the state. For trying an environment out and for
   * evaluation by hand. Training goes through a rollout manager, which batches.
   */
  async step(state: S, generate: Generate): Promise<S> {
    return this.updateState(state, await generate(this.buildPrompt(state)));
  }
}
