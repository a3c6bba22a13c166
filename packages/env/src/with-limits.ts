import { type Environment, parseOptions, type State } from '@rlp/core';
import * as z from 'zod';

const schema = z.strictObject({ maxTurns: z.int().min(1) });

/** Limits on an episode: `maxTurns`, the responses after which it is over. */
export type EnvironmentLimits = z.input<typeof schema>;

/**
 * The same environment, over after `maxTurns` responses at the latest.
 *
 * Unlike the rollout manager's own limit, which truncates, this one is part of the world: such an episode completes.
 */
export function withLimits<S extends State, Metadata>(
  environment: Environment<S, Metadata>,
  limits: EnvironmentLimits,
): Environment<S, Metadata> {
  const { maxTurns } = parseOptions('withLimits', schema, limits);
  const { stateKey } = environment;
  return {
    reset: (task, seed) => environment.reset(task, seed),
    buildPrompt: (state) => environment.buildPrompt(state),
    updateState: (state, response) => environment.updateState(state, response),
    isTerminal: (state) => state.stepCount >= maxTurns || environment.isTerminal(state),
    ...(stateKey && { stateKey: (state: S) => stateKey.call(environment, state) }),
  };
}
