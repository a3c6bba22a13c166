export { examplesWithin, pairsWithin } from './preference/judged-within.ts';
export {
  type PreferenceLossName,
  type PreferenceTerm,
  preferenceLossNames,
  readsReference,
} from './preference/loss-options.ts';
export {
  type PreferenceLoss,
  type PreferenceOptions,
  type PreferenceReferenceUpdate,
  type PreferenceTerms,
  preferenceSchema,
  resolvePreferenceOptions,
} from './preference/options.ts';
export type { PairInputs, PreferenceDivergence } from './preference/pair-losses.ts';
export { type PairRewards, pairRewards } from './preference/pair-rewards.ts';
export { pairLoss, type SingleInputs, singleLoss } from './preference/preference-losses.ts';
export {
  type JudgedPair,
  type JudgedSequence,
  judgedPair,
  type LabelledSequence,
  labelledSequence,
  type Preference,
} from './preference/preferences.ts';
export {
  type RewardModelDependencies,
  type RewardModelOptions,
  type RewardModelRewardOptions,
  type RewardPair,
  rewardModel,
  rewardModelLoss,
  rewardModelSchema,
  runRewardModelTraining,
} from './preference/reward-model.ts';
export {
  type PreferenceDependencies,
  type PreferenceReport,
  type PreferenceState,
  runPreferenceTraining,
} from './preference/run-preference.ts';
export type { ItemsWithin } from './supervised/max-length.ts';
