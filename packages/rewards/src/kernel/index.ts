export { computeRewardVector, kernelPaysFrom, type RewardVectorOptions } from './reward-vector.ts';
