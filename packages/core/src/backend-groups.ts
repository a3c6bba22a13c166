import { ArgumentError } from './errors.ts';
import { requireArguments } from './options/require-arguments.ts';
import type { BackendGroup, BackendGroups, TrainingBackend } from './training.ts';

const members: { readonly [Group in BackendGroup]: readonly (keyof BackendGroups[Group])[] } = {
  checkpoints: ['saveCheckpoint', 'loadCheckpoint'],
  weights: ['getWeights', 'loadWeights'],
  reference: ['updateReference'],
  values: ['values'],
  version: ['weightVersion'],
  entropies: [],
};

/** Whether a backend has a group of methods and was created with what they need. */
export function hasGroup<Group extends BackendGroup>(
  backend: TrainingBackend,
  group: Group,
): backend is BackendGroups[Group] {
  requireArguments('hasGroup', { backend: 'object', group: 'text' }, backend, group);
  const names: readonly PropertyKey[] = members[group];
  return names.every((name) => name in backend) && !backend.lacks?.includes(group);
}

/** Something that a caller wants, and the group that it needs. */
export interface GroupNeed {
  /** Such as an option: `loss.klCoefficient`. */
  readonly option: string;
  readonly group: BackendGroup;
}

const remedies: Readonly<Record<BackendGroup, string>> = {
  checkpoints: 'saveCheckpoint and loadCheckpoint',
  weights: 'getWeights and loadWeights',
  reference: "a reference policy; createOnnxBackend keeps one with reference: 'initial'",
  values: "a value head; createOnnxBackend makes one with valueHead: 'linear'",
  version: 'weightVersion',
  entropies: 'losses that read entropies, as those of createOnnxBackend',
};

/**
 * Checks that a backend has every group that is needed.
 *
 * @param owner - Begins the error message.
 * @throws ArgumentError naming each option with the group that it needs and the backend lacks.
 */
export function requireGroups(owner: string, backend: TrainingBackend, needs: readonly GroupNeed[]): void {
  requireArguments(
    'requireGroups',
    { owner: 'text', backend: 'object', needs: 'objects' },
    owner,
    backend,
    needs,
  );
  const missing = needs.filter(({ group }) => !hasGroup(backend, group));
  if (missing.length === 0) return;
  const lines = missing.map(({ option, group }) => `\n  - ${option} → ${group}: ${remedies[group]}`);
  throw new ArgumentError(
    `${owner}: the training backend lacks what these options need; turn them off or choose another backend${lines.join('')}`,
  );
}
