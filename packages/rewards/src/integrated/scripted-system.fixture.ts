import type { VerificationReport, VerificationRequest, Verifier } from '@rlp/core';
import { createIntegratedRewardSystem, type IntegratedRewardConfig } from './index.ts';

/** Scores a response by the number in it. */
export function scriptedVerifier(
  before: (requests: readonly VerificationRequest[]) => void = () => {},
): Verifier {
  const judge = ({ response }: VerificationRequest): VerificationReport => {
    const score = Number(/v=([\d.]+)/.exec(response)?.[1] ?? 0);
    return {
      result: score >= 0.7 ? 'pass' : 'fail',
      score,
      details: { custom_metric: score },
      message: `${score}`,
    };
  };
  return {
    name: 'scripted',
    async verifyBatch(requests) {
      before(requests);
      return requests.map(judge);
    },
  };
}

/** An episode whose reward is `r` and whose verification score is `v`. */
export const episode = (r: number, v: number) => ({
  prompt: 'p',
  response: `r=${r} v=${v}`,
  id: `${r}/${v}`,
});

/** None of the stock components. */
export const onlyAdded = { lengthWeight: 0, keywordWeight: 0, perplexityWeight: 0, accuracyWeight: 0 };

/** A system whose rewards and scores are those that the responses name. */
export function systemOf(config: IntegratedRewardConfig = {}, verifier = scriptedVerifier()) {
  const system = createIntegratedRewardSystem({ rewardConfig: onlyAdded, ...config }, { verifier });
  system.processor.addReward('scripted', (_, response) => Number(/r=([\d.-]+)/.exec(response)?.[1]));
  return system;
}

/** Names of episodes. */
export const idsOf = (episodes: readonly { id?: string }[]) => episodes.map(({ id }) => id);
