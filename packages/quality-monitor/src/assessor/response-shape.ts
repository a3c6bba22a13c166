import { ArgumentError } from '@rlp/core';
import { trimmed } from '../text/characters.ts';
import type { ResolvedAssessorOptions } from './options.ts';

/** Parts of a response. */
interface ResponseShape {
  /** Trimmed content of the first pair of the tag, if any. */
  readonly reasoning: string | undefined;
  readonly answer: string | undefined;
  /** Whether the reasoning tags are a pair. With the conventions of TunRex, whether both occur in any order. */
  readonly hasReasoningTags: boolean;
}

/**
 * Reads responses of the form `<reasoning>…</reasoning><answer>…</answer>`, in linear time.
 *
 * @throws ArgumentError for tags that are not plain words.
 */
export function shapeReader({
  tags,
  conventions,
}: Pick<ResolvedAssessorOptions, 'tags' | 'conventions'>): (response: string) => ResponseShape {
  if (tags === 'none') return () => ({ reasoning: undefined, answer: undefined, hasReasoningTags: false });
  const odd = Object.values(tags).find((tag) => !/^[\w-]+$/.test(tag));
  if (odd !== undefined) {
    throw new ArgumentError(
      `tags: expected names of letters, digits, "_" and "-", without brackets, got ${JSON.stringify(odd)}`,
    );
  }
  const hasTags = (text: string) =>
    conventions === 'tunrex' && text.includes(`<${tags.reasoning}>`) && text.includes(`</${tags.reasoning}>`);
  return (response) => {
    const reasoning = between(response, tags.reasoning);
    const hasReasoningTags = reasoning !== undefined || hasTags(response);
    return { reasoning, answer: between(response, tags.answer), hasReasoningTags };
  };
}

function between(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`) + tag.length + 2;
  const end = start < tag.length + 2 ? -1 : text.indexOf(`</${tag}>`, start);
  return end < 0 ? undefined : trimmed(text.slice(start, end));
}
