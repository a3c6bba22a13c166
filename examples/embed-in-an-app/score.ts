import { processEpisodeBatchRewards, type RewardConfig } from '@rlp/rewards';

const config: RewardConfig = { targetLength: 12, keywords: ['reward', 'policy'] };

/** A text's reward and its parts, as lines to show. */
export function scoreLines(response: string): string[] {
  const rewards = processEpisodeBatchRewards(
    [{ prompt: 'What does a policy learn from?', response }],
    config,
  );
  const parts = Object.entries(rewards.components).map(([name, [value]]) => `${name} ${value?.toFixed(3)}`);
  return [`reward ${rewards.at(0)?.toFixed(3)}`, ...parts];
}
