import type { Finding, Intervention } from '@rlp/core';
import type { ResolvedAction, ResolvedInterventionConfig } from './options.ts';

/**
 * Requests the actions that findings call for.
 *
 * An action that changes the run is requested once and then waits for its `cooldown`, because its effect takes time to show.
 * `drop` concerns one batch only and has no cooldown.
 */
export class Interventions {
  readonly #actions: ResolvedInterventionConfig['actions'];
  /** Iteration in which each action was last requested. */
  requested: Record<string, number> = {};

  constructor({ actions }: Pick<ResolvedInterventionConfig, 'actions'>) {
    this.#actions = actions;
  }

  /** @returns The interventions, and how many were held back by their cooldown. */
  request(
    findings: readonly Finding[],
    step: number,
  ): { readonly interventions: Intervention[]; readonly held: number } {
    const requests = findings.flatMap((cause) =>
      [this.#actions[cause.rule] ?? []].flat().flatMap((action, at) => {
        const intervention = interventionFor(action, cause);
        return intervention === undefined ? [] : [{ action, intervention, key: `${cause.rule}/${at}` }];
      }),
    );
    const due = requests.filter((request) => this.#isDue(request, step));
    return {
      interventions: due.map(({ intervention }) => intervention),
      held: requests.length - due.length,
    };
  }

  #isDue({ action, intervention, key }: Request, step: number): boolean {
    if (action.action === 'drop') return true;
    const component = intervention.action === 'lower-weight' ? `/${intervention.component}` : '';
    if (step - (this.requested[key + component] ?? -Infinity) < action.cooldown) return false;
    this.requested[key + component] = step;
    return true;
  }
}

interface Request {
  readonly action: ResolvedAction;
  readonly intervention: Intervention;
  readonly key: string;
}

/** Returns nothing if the finding names no trajectories or component to act on. */
function interventionFor(action: ResolvedAction, cause: Finding): Intervention | undefined {
  switch (action.action) {
    case 'drop': {
      const { trajectories = [] } = cause;
      return trajectories.length === 0 ? undefined : { action: 'drop', cause, trajectories };
    }
    case 'raise-kl':
      return { action: 'raise-kl', cause, factor: action.factor };
    case 'lower-weight': {
      const { component = cause.component, factor } = action;
      return component === undefined ? undefined : { action: 'lower-weight', cause, factor, component };
    }
    default:
      return { action: action.action, cause };
  }
}

/** Describes an intervention in a sentence. */
export function interventionNote({ cause, ...intervention }: Intervention): string {
  const details = Object.entries(intervention)
    .filter(([name]) => name !== 'action' && name !== 'trajectories')
    .map(([name, value]) => `${name} ${value}`);
  const what = [intervention.action, ...(details.length > 0 ? [`(${details.join(', ')})`] : [])].join(' ');
  return `Requested ${what} because of ${cause.rule}: ${cause.message}`;
}
