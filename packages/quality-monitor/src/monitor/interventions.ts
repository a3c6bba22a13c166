import type { Finding, Intervention } from '@rlp/core';
import type { ResolvedAction } from './options.ts';

/** What a finding is about. */
interface Subject {
  /** Ids of trajectories. */
  readonly trajectories: readonly string[];
  /** A reward component. */
  readonly component: string | undefined;
}

/** The intervention that an action means for a finding; nothing where the finding has nothing to act on. */
export function interventionFor(
  action: ResolvedAction,
  cause: Finding,
  { trajectories, component }: Subject,
): Intervention | undefined {
  switch (action.action) {
    case 'drop':
      return trajectories.length === 0 ? undefined : { ...action, cause, trajectories };
    case 'lower-weight':
      return lowerWeight(action, cause, action.component ?? component);
    default:
      return { ...action, cause };
  }
}

function lowerWeight(
  { action, factor }: Extract<ResolvedAction, { readonly action: 'lower-weight' }>,
  cause: Finding,
  component: string | undefined,
): Intervention | undefined {
  return component === undefined ? undefined : { action, factor, cause, component };
}
