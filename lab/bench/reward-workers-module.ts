/** What `pnpm bench reward-workers` scores with and without threads. */
import { finalAnswer } from '@rlp/answers';
import { createRolloutRewardProcessor, rewardFunctions } from '@rlp/rewards';
import { answerRougeL, mathAnswer } from '@rlp/rewards/stock';
import { createDefaultVerifierPipeline, verificationRequest } from '@rlp/rewards/verification';

interface Metadata {
  readonly answer: string;
}

/** Some microseconds each. */
export const processor = createRolloutRewardProcessor();

/** A longest common subsequence of 200 words. */
export const overlap = rewardFunctions<Metadata>({
  overlap: { reward: answerRougeL({ reference: ({ answer }) => answer, extract: (response) => response }) },
});

/** Whether two formulas are the same. */
export const symbolic = rewardFunctions<Metadata>({
  symbolic: {
    reward: mathAnswer({
      reference: () => 'x^4+4x^3+6x^2+4x+1',
      extract: finalAnswer({ from: ['boxed'] }),
    }),
  },
});

const pipeline = createDefaultVerifierPipeline();

/** The score of the default verifiers. */
export const verified = rewardFunctions<Metadata>({
  verified: {
    reward: async (trajectory, context) => {
      const [report] = await pipeline.verifyBatch([verificationRequest(trajectory)], context);
      return report?.score ?? null;
    },
  },
});
