import type { RewardFunction } from '@rlp/core';
import { lazily } from '../../shared/lazily.ts';
import { type AnswerSources, requireReference, withReader } from './reference.ts';

/** Options of {@link exactAnswer}. */
export interface ExactAnswerOptions<Metadata> extends AnswerSources<Metadata> {}

const plain = (text: string | undefined) => text?.trim().normalize().replaceAll('\r\n', '\n');
const withTagged = lazily(async () => (await import('@rlp/answers')).extractTag('answer', 'agreeing'));

/**
 * 1 if the policy's answer is the right one, character by character once both are trimmed, composed (NFC) and have line feeds alone, else 0. A tag that the sentence
 * around it denies is no answer. A task without a reference answer, or with an empty one, is an error (and so unscorable).
 *
 * Without `extract` the reader of tags loads with the first call. Calls return promises until it is there, and numbers from then on.
 */
export function exactAnswer<Metadata>(options: ExactAnswerOptions<Metadata>): RewardFunction<Metadata> {
  const { reference, extract } = withReader('exactAnswer', options);
  return ({ task, response }) => {
    const expected = requireReference('exactAnswer', task.id, reference(task.metadata));
    const graded = (read: NonNullable<typeof extract>) => (plain(read(response)) === plain(expected) ? 1 : 0);
    return extract === undefined ? withTagged(graded) : graded(extract);
  };
}
