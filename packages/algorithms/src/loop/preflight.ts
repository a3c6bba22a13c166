import {
  ArgumentError,
  choosePublication,
  type GroupNeed,
  hasGroup,
  type PublishOptions,
  requireGroups,
  type TrainingBackend,
} from '@rlp/core';
import { sharesModel } from './experience.ts';
import { type ResolvedRlOptions, resolveRlOptions } from './options.ts';
import { policyLossOf } from './policy-update.ts';
import type { AdvantageEstimator, EstimatorNeed, RlDependencies } from './protocol.ts';

/** What an estimator reads besides rewards. */
export function needsOf<Metadata>(estimator: AdvantageEstimator<Metadata>): readonly EstimatorNeed[] {
  return typeof estimator === 'function' ? [] : (estimator.needs ?? []);
}

/**
 * Checks that a run has what its options and its estimator need, before its first iteration.
 *
 * @returns How weights are published.
 * @throws OptionsError for dependencies that are missing or not known, ArgumentError for what they lack: groups of the backend, a
 *   common form of publication.
 */
export function preflight<Metadata>(
  dependencies: RlDependencies<Metadata>,
  estimator: AdvantageEstimator<Metadata>,
  options: ResolvedRlOptions,
): PublishOptions {
  requireDependencies(dependencies, estimator, options);
  const { backend, critic, inference, publications } = dependencies;
  requireGroups('runRlTraining', backend, groupNeeds(dependencies, estimator, options));
  if (critic !== undefined) requireGroups('runRlTraining', critic, [{ option: 'critic', group: 'values' }]);
  return choosePublication(backend, inference, publications);
}

/** Options and parts of a run that read or move the reference policy, or read entropies. */
function groupNeeds<Metadata>(
  { loss }: RlDependencies<Metadata>,
  estimator: AdvantageEstimator<Metadata>,
  options: ResolvedRlOptions,
): GroupNeed[] {
  const { referenceKl, rewardKl, referenceUpdate, klControl, entropyControl } = options;
  const used = loss ?? policyLossOf(options, { klForm: 'fixed' });
  const reads = used.columns.includes('referenceLogprobs');
  const wanting: readonly (readonly [option: string, group: GroupNeed['group'], isWanted: boolean])[] = [
    [loss === undefined ? 'loss.klCoefficient' : 'loss', 'reference', reads],
    ['rewardKl', 'reference', rewardKl !== undefined],
    ['klControl', 'reference', klControl !== undefined],
    ["referenceKl: 'always'", 'reference', referenceKl === 'always'],
    ['referenceUpdate', 'reference', referenceUpdate.method !== 'none'],
    ['advantages', 'reference', needsOf(estimator).includes('referenceLogprobs')],
    [loss === undefined ? 'loss.entropyCoefficient' : 'loss', 'entropies', used.entropies === 'needed'],
    ['entropyControl', 'entropies', entropyControl !== undefined],
  ];
  return wanting.flatMap(([option, group, isWanted]) => (isWanted ? [{ option, group }] : []));
}

function requireDependencies<Metadata>(
  { rollouts, backend, critic, greedyRollouts }: RlDependencies<Metadata>,
  estimator: AdvantageEstimator<Metadata>,
  { critic: { warmupIterations } }: ResolvedRlOptions,
): void {
  if (rollouts.options.sampling.temperature === 0) {
    throw new ArgumentError(
      'runRlTraining: the sampling temperature must be above 0, greedy samples have no gradient; set it to 1',
    );
  }
  const needs = needsOf(estimator);
  if (needs.includes('values') && critic === undefined) {
    throw new ArgumentError(
      'runRlTraining: the advantage estimator reads values: pass a `critic`, the backend itself if it has a value head',
    );
  }
  if (needs.includes('greedyRewards') && greedyRollouts === undefined) {
    throw new ArgumentError(
      'runRlTraining: the advantage estimator reads greedy rewards: pass `greedyRollouts`, which collect groups of one ' +
        'at temperature 0',
    );
  }
  if (warmupIterations > 0 && (critic === undefined || sharesModel({ critic, backend }))) {
    throw new ArgumentError(
      'runRlTraining: critic.warmupIterations needs a critic of its own: on a shared trunk the policy would move with it',
    );
  }
}

const criticDefaults = JSON.stringify(resolveRlOptions().critic);

/** @throws ArgumentError for options of a critic where none learns. Resolved options hold all defaults, which ask for nothing. */
export function requireCritic(owner: string, options: object = {}, critic?: object): void {
  if (critic !== undefined || Object.keys(options).length === 0 || JSON.stringify(options) === criticDefaults)
    return;
  throw new ArgumentError(
    `${owner}: the option \`critic\` has no effect without a critic; leave it out, or learn from one with PPOAlgorithm`,
  );
}

/** Moves the reference policy of a backend that was checked to have one. */
export async function moveReference(
  backend: TrainingBackend,
  update: Exclude<ResolvedRlOptions['referenceUpdate'], { method: 'none' }>,
): Promise<void> {
  if (!hasGroup(backend, 'reference'))
    throw new ArgumentError(
      "referenceUpdate: the backend has no reference policy; choose { method: 'none' }, or a backend that has one",
    );
  await backend.updateReference(update);
}
