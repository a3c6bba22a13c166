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
      [this.#actions[cause.rule] ?? []]
        .flat()
        .flatMap((action, at) => requestOf(action, cause, `${cause.rule}/${at}`) ?? []),
    );
    const due = requests.filter((request) => this.#isDue(request, step));
    return {
      interventions: due.map(({ intervention }) => intervention),
      held: requests.length - due.length,
    };
  }

  #isDue({ key, cooldown }: Request, step: number): boolean {
    if (step - (this.requested[key] ?? -Infinity) < cooldown) return false;
    if (cooldown > 0) this.requested[key] = step;
    return true;
  }
}

interface Request {
  readonly intervention: Intervention;
  /** What it is known by. */
  readonly key: string;
  /** Steps before it is requested again. 0 for none. */
  readonly cooldown: number;
}

/** Returns nothing if the finding names no trajectories or component to act on. */
function requestOf(action: ResolvedAction, cause: Finding, key: string): Request | undefined {
  if (action.action === 'drop') {
    const { trajectories = [] } = cause;
    const intervention = { action: 'drop', cause, trajectories } as const;
    return trajectories.length === 0 ? undefined : { intervention, key, cooldown: 0 };
  }
  const { cooldown, ...wanted } = action;
  if (wanted.action !== 'lower-weight') return { intervention: { ...wanted, cause }, key, cooldown };
  const { component = cause.component } = wanted;
  if (component === undefined) return undefined;
  return { intervention: { ...wanted, cause, component }, key: `${key}/${component}`, cooldown };
}

/** Describes an intervention in a sentence. */
export function interventionNote({ cause, ...intervention }: Intervention): string {
  const details = Object.entries(intervention)
    .filter(([name]) => name !== 'action' && name !== 'trajectories')
    .map(([name, value]) => `${name} ${value}`);
  const what = [intervention.action, ...(details.length > 0 ? [`(${details.join(', ')})`] : [])].join(' ');
  return `Requested ${what} because of ${cause.rule}: ${cause.message}`;
}
