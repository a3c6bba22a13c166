import { extractTag } from '@rlp/answers';
import type { RewardFunction } from '@rlp/core';
import { type AnswerSources, requireReader, requireReference } from './reference.ts';

/** Options of {@link exactAnswer}. */
export interface ExactAnswerOptions<Metadata> extends AnswerSources<Metadata> {}

/**
 * 1 if the policy's answer is the right one, character by character once both are trimmed, else 0. A tag that its sentence denies is no answer.
 *
 * A task without a reference answer, or with an empty one, is an error (and so unscorable), never a wrong answer.
 */
export function exactAnswer<Metadata>({
  reference,
  extract = extractTag('answer', 'agreeing'),
}: ExactAnswerOptions<Metadata>): RewardFunction<Metadata> {
  requireReader('exactAnswer', 'reference', reference);
  return ({ task, response }) => {
    const expected = requireReference('exactAnswer', task.id, reference(task.metadata));
    return extract(response)?.trim() === expected.trim() ? 1 : 0;
  };
}
