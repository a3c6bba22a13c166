import type { VerificationReport, VerificationRequest, Verifier } from '@rlp/core';
import {
  createIntegratedRewardSystem,
  type IntegratedRewardConfig,
  type IntegratedRolloutRewardSystem,
  type RewardConfig,
  type RewardEpisode,
} from '@rlp/rewards';

/** What an answer about computing should be like. */
export const rewardConfig: RewardConfig = {
  lengthWeight: 0.2,
  keywordWeight: 0.3,
  perplexityWeight: 0.3,
  accuracyWeight: 0.2,
  targetLength: 20,
  keywords: ['quantum', 'computer', 'algorithm'],
};

/** Strict: the quality bar is high, and reward and verification must both pass. */
export const strict: IntegratedRewardConfig = {
  rewardConfig,
  verificationThreshold: 0.8,
  strictFiltering: true,
  minRewardThreshold: 0.8,
};

/** Lenient: the bar is lower, and one of them is enough. */
export const lenient: IntegratedRewardConfig = {
  rewardConfig,
  verificationThreshold: 0.5,
  strictFiltering: false,
};

/** Four answers, from good to useless. */
export const episodes: readonly (RewardEpisode & { readonly id: string })[] = [
  {
    id: 'good',
    prompt: 'Explain quantum computing',
    response:
      'A quantum computer keeps its state in qubits. A quantum algorithm makes wrong answers cancel, so that measuring finds the right one.',
    metadata: { answer: 'qubits interfere and are measured' },
  },
  {
    id: 'hedging',
    prompt: 'Explain quantum computing',
    response: 'Maybe it is, I think, some kind of computer, or perhaps not. It could be anything, I believe.',
  },
  { id: 'repeating', prompt: 'Explain quantum computing', response: 'quantum '.repeat(40) },
  { id: 'empty', prompt: 'Explain quantum computing', response: '' },
];

/** A verifier of one's own: whether an answer reads like sentences. */
const sentences: Verifier = {
  name: 'sentences',
  async verifyBatch(requests) {
    return requests.map(({ response }: VerificationRequest): VerificationReport => {
      const ended = response.split(/[.!?]/).filter((part) => part.trim() !== '').length;
      const words = response.split(/\s+/).filter((word) => word !== '').length;
      const score = words === 0 || !/[.!?]\s*$/.test(response) ? 0 : Math.min(1, ended / (words / 15));
      return {
        result: score > 0.7 ? 'pass' : 'fail',
        score,
        details: { custom_metric: score },
        message: `Custom score: ${score.toFixed(3)}`,
      };
    });
  },
};

/** A system with a verifier, a reward and a quality metric of one's own. */
export function createSystem(config: IntegratedRewardConfig): IntegratedRolloutRewardSystem {
  const system = createIntegratedRewardSystem(config, {
    verifier: sentences,
    customMetrics: {
      meanWords: (judged) =>
        judged.reduce((sum, { response = '' }) => sum + response.split(/\s+/).length, 0) / judged.length,
    },
  });
  // A second subject is worth a little more.
  system.processor.addReward('measuring', (_, response) => (response.includes('measur') ? 1 : 0), {
    weight: 0.1,
  });
  return system;
}
