import { trimmed } from '@rlp/answers/text';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { isVisible } from '../../shared/visible-text.ts';

const schema = z.strictObject({
  /** Whose rules apply. Default `'trl'`. */
  reading: z.enum(['trl', 'verifiers']).default('trl'),
  /** Whether a thought or an answer with nothing visible counts, or an answer with another `</think>`, as for TRL. Default `'fails'`. */
  empty: z.enum(['fails', 'passes']).default('fails'),
});

/** Options of {@link thinkFormat}. */
export interface ThinkFormatOptions extends z.input<typeof schema> {}

/**
 * 1 if a response thinks in `<think>…</think>` before it answers, else 0. A thought that only says the answer is none. What else it says is not
 * judged, so words of no use pay.
 *
 * - `trl`: it begins with `<think>`, which occurs once, and `</think>` follows.
 * - `verifiers`: trimmed, it begins with `<think>`; both tags occur once; something follows `</think>`.
 *
 * @see https://github.com/huggingface/trl `think_format_reward`, https://github.com/PrimeIntellect-ai/verifiers `ThinkParser`
 */
export function thinkFormat<Metadata = unknown>(options: ThinkFormatOptions = {}): RewardFunction<Metadata> {
  const { reading, empty } = parseOptions('thinkFormat', schema, options);
  return ({ response }) => {
    const start = reading === 'trl' ? 0 : Math.max(0, response.indexOf(trimmed(response)));
    const text = response.slice(start);
    if (!follows(text, reading)) return 0;
    const [thought, answer] = text.slice('<think>'.length).split(/<\/think>(.*)/s, 2);
    if (empty === 'passes') return 1;
    if (wordsOf(thought!) !== '' && wordsOf(thought!) === wordsOf(answer!)) return 0;
    return isVisible(thought!, 'think') && isVisible(answer!) && !answer!.includes('</think>') ? 1 : 0;
  };
}

/** What a text says besides that it is an answer. */
const wordsOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/\b(?:(?:the|my|final) )*answer(?: is)?\b|\bthinking about\b|[^\p{L}\p{N}]+/gu, '');

function follows(text: string, reading: 'trl' | 'verifiers'): boolean {
  if (!text.startsWith('<think>') || text.indexOf('<think>', 1) >= 0) return false;
  const close = text.indexOf('</think>');
  if (close < 0 || reading === 'trl') return close >= 0;
  return text.indexOf('</think>', close + 1) < 0 && text.length > close + '</think>'.length;
}
