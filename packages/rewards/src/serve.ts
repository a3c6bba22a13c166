/** Rewards over HTTP, for trainers in other languages. Needs Node. */
export type { ServeRewardsOptions } from './serve/options.ts';
export { type RewardServer, type RewardServerStatistics, serveRewards } from './serve/serve-rewards.ts';
export type { ServedRewards } from './serve/served.ts';
