import {
  parseOptions,
  type RewardFunction,
  type Trajectory,
  type VerificationRequest,
  type Verifier,
} from '@rlp/core';
import * as z from 'zod';
import { VerificationPipeline } from './pipeline.ts';

const schema = z.strictObject({
  /** Reward of a response that fails. `null` leaves it out of its group. Default 0. */
  penaltyOnFailure: z.number().nullable().default(0),
  /** Lowest verdict that stops a response. Default `'fail'`. */
  failOn: z.enum(['fail', 'warning']).default('fail'),
});

/** Options of {@link applyVerifiersToReward}. */
export interface ApplyVerifiersOptions extends z.input<typeof schema> {}

/**
 * A reward behind a gate. A response that fails a verifier gets the penalty, and the reward function does not run.
 *
 * Verifiers run in order and stop at the first failure. The prompt they see is the task's prompt, as text.
 *
 * @throws OptionsError for options that are wrong or without verifiers.
 */
export function applyVerifiersToReward<Metadata>(
  reward: RewardFunction<Metadata>,
  verifiers: readonly Verifier[],
  options: ApplyVerifiersOptions = {},
): RewardFunction<Metadata> {
  const { penaltyOnFailure, failOn } = parseOptions('applyVerifiersToReward', schema, options);
  const gate = new VerificationPipeline({ verifiers: [...verifiers], evaluation: 'stop-at-failure' });
  return async (trajectory, context) => {
    const [report] = await gate.verifyBatch([verificationRequest(trajectory)], context);
    const isStopped = report?.result === 'fail' || (failOn === 'warning' && report?.result === 'warning');
    return isStopped ? penaltyOnFailure : reward(trajectory, context);
  };
}

/** What verifiers judge of a trajectory, namely its last response, the task's prompt (messages as lines `role: content`) and metadata. */
export function verificationRequest({
  task,
  response,
}: Pick<Trajectory, 'task' | 'response'>): VerificationRequest {
  const { prompt, metadata } = task;
  const text =
    typeof prompt === 'string' ? prompt : prompt.map(({ role, content }) => `${role}: ${content}`).join('\n');
  if (typeof metadata !== 'object' || metadata === null) return { prompt: text, response };
  return { prompt: text, response, metadata: { ...metadata } };
}
