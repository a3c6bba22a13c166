import { type Environment, parseOptions, requireFields, type State } from '@rlp/core';
import * as z from 'zod';
import { environmentMethods, lift } from './lift.ts';

const schema = z.strictObject({
  /** Responses after which the episode is over. */
  maxTurns: z.int().min(1),
});

/** Limits of an episode. */
export interface EnvironmentLimits extends z.input<typeof schema> {}

/**
 * The same environment, over after `maxTurns` responses at the latest.
 *
 * Unlike the rollout manager's own limit, which truncates, this one is part of the world. Such an episode completes. Its `termination`
 * has the reason `turns`.
 */
export function withLimits<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  limits: EnvironmentLimits,
): Environment<S, Metadata, Outcome> {
  requireFields('withLimits', environmentMethods, environment);
  const { maxTurns } = parseOptions('withLimits', schema, limits, 'EnvironmentLimits');
  return {
    ...lift(environment, (state: S) => state),
    reset: (task, seed, context) => environment.reset(task, seed, context),
    updateState: (state, response, context) => environment.updateState(state, response, context),
    isTerminal: (state) => state.stepCount >= maxTurns || environment.isTerminal(state),
    termination: (state) =>
      environment.isTerminal(state)
        ? (environment.termination?.(state) ?? { reason: 'environment' })
        : { reason: 'turns' },
  };
}
