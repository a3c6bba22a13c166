import {
  accuracyReward,
  computeIntegratedRewards,
  fluencyReward,
  isAccepted,
  type JudgedEpisode,
  keywordReward,
  lengthReward,
  processEpisodeBatchRewards,
  qualityMetrics,
} from '@rlp/rewards';
import type { Adapter, AdapterTable } from './fixture.ts';

const length: Adapter = ({ inputs, params }) => ({
  reward: lengthReward(inputs.completion, {
    targetLength: params.target_length,
    tolerance: params.tolerance,
  }),
});

const keyword: Adapter = ({ inputs, params }) => ({
  reward: keywordReward(
    { prompt: inputs.prompt, response: inputs.completion },
    { keywords: params.keywords, bonusMultiplier: params.bonus_multiplier },
  ),
});

const perplexity: Adapter = ({ inputs }) => ({ reward: fluencyReward(inputs.completion) });

const accuracy: Adapter = ({ inputs, params }) => ({
  reward: accuracyReward(inputs.completion, {
    reference: inputs.ground_truth ?? undefined,
    similarityThreshold: params.similarity_threshold,
    punctuation: 'counted',
  }),
});

/** In the original the configured length never reaches the length reward: it stays at 50 words. Ours does reach it. */
const lengthOfTheOriginal = 50;

const combined: Adapter = ({ inputs, params }) => {
  const { prompt, response } = inputs;
  const rewards = processEpisodeBatchRewards([{ prompt, response }], {
    lengthWeight: params.length_weight,
    keywordWeight: params.keyword_weight,
    perplexityWeight: params.perplexity_weight,
    accuracyWeight: params.accuracy_weight,
    targetLength: lengthOfTheOriginal,
    keywords: params.keywords,
  });
  return { reward: rewards.at(0) };
};

const filterEpisodes: Adapter = ({ inputs, params }) => {
  const rewards = inputs.rewards as readonly number[];
  const judged = rewards.map(
    (reward, k): JudgedEpisode => ({
      reward,
      ...(params.enable_verification && {
        verificationScore: inputs.verification_scores[k],
        verificationResult: inputs.verification_results[k],
      }),
    }),
  );
  const thresholds = {
    minReward: params.min_reward_threshold,
    maxReward: params.max_reward_threshold,
    verificationScore: params.verification_threshold,
  };
  const filtering = params.strict_filtering ? 'strict' : 'lenient';
  const passes = judged.map((episode) => isAccepted(episode, thresholds, filtering));
  const metrics = qualityMetrics(judged);
  return {
    accepted: passes.flatMap((accepted, k) => (accepted ? [k] : [])),
    rejected: passes.flatMap((accepted, k) => (accepted ? [] : [k])),
    quality_metrics: {
      num_episodes: metrics.numEpisodes,
      reward_stats: metrics.rewardStats,
      ...(metrics.verificationStats && {
        verification_stats: metrics.verificationStats,
        verification_counts: metrics.verificationCounts,
      }),
    },
  };
};

const combine: Adapter = ({ inputs, params }) => ({
  combined: computeIntegratedRewards(inputs.rewards, inputs.verification_scores, {
    rewardWeight: params.reward_weight,
    verificationWeight: params.verification_weight,
  }),
});

/** Component rewards of texts, and what the integrated system makes of them. */
export const textRewards: AdapterTable = {
  rewards_textpolicy: {
    length_reward: length,
    keyword_reward: keyword,
    perplexity_reward: perplexity,
    accuracy_reward: accuracy,
    combined,
  },
  integrated_rewards_textpolicy: { filter_episodes: filterEpisodes, combine },
};
