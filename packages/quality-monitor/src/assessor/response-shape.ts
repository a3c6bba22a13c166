import { trimmed } from '@rlp/answers/text';
import { ArgumentError } from '@rlp/core';
import type { ResolvedAssessorOptions } from './options.ts';

/** Parts of a response. */
interface ResponseShape {
  /** Trimmed content of the first pair of the tag. Empty without one. */
  readonly reasoning: string;
  readonly answer: string;
  /** Whether it has both pairs. */
  readonly isFormatted: boolean;
  /** Whether the reasoning tags are a pair. With the conventions of TunRex, whether both occur in any order. */
  readonly hasReasoningTags: boolean;
}

const untagged = { reasoning: '', answer: '', isFormatted: false, hasReasoningTags: false };

/**
 * Reads responses of the form `<reasoning>…</reasoning><answer>…</answer>`, in linear time.
 *
 * @throws ArgumentError for tags that are not plain words.
 */
export function shapeReader({
  tags,
  conventions,
}: Pick<ResolvedAssessorOptions, 'tags' | 'conventions'>): (response: string) => ResponseShape {
  if (tags === 'none') return () => untagged;
  const odd = Object.values(tags).find((tag) => !/^[\w-]+$/.test(tag));
  if (odd !== undefined) {
    throw new ArgumentError(
      `tags: expected names of letters, digits, "_" and "-", without brackets, got ${JSON.stringify(odd)}`,
    );
  }
  const [ofReasoning, ofAnswer] = [pairOf(tags.reasoning), pairOf(tags.answer)];
  const hasTags = (text: string) =>
    conventions === 'tunrex' && ofReasoning.every((tag) => text.includes(tag));
  return (response) => {
    const [reasoning, answer] = [between(response, ofReasoning), between(response, ofAnswer)];
    return {
      reasoning: reasoning ?? '',
      answer: answer ?? '',
      isFormatted: reasoning !== undefined && answer !== undefined,
      hasReasoningTags: reasoning !== undefined || hasTags(response),
    };
  };
}

function pairOf(tag: string): [opening: string, closing: string] {
  return [`<${tag}>`, `</${tag}>`];
}

function between(text: string, [opening, closing]: [string, string]): string | undefined {
  const found = text.indexOf(opening);
  const start = found + opening.length;
  const end = found < 0 ? -1 : text.indexOf(closing, start);
  return end < 0 ? undefined : trimmed(text.slice(start, end));
}
