export { computeRewardVector, type RewardVectorOptions } from './reward-vector.ts';
