/** The step-level pipeline: judgements to rewards of steps, rewards to advantages of steps. */
export { type AlignedSteps, type AlignOptions, alignRewardsWithStepData } from './steps/align.ts';
export { type ApplyGigpoOptions, applyGigpoToBatchSteps } from './steps/apply-gigpo.ts';
