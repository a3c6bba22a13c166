import { ArgumentError } from '@rlp/core';
import { trimmed } from '../text/characters.ts';

/** Names of the expected tags. */
export interface ResponseTags {
  readonly reasoning: string;
  readonly answer: string;
}

/** Parts of a response. */
interface ResponseShape {
  /** Trimmed content of the first pair of the tag, if any. */
  readonly reasoning: string | undefined;
  readonly answer: string | undefined;
  /** Whether the reasoning tags are a pair. With the conventions of TunRex, whether both occur in any order. */
  readonly hasReasoningTags: boolean;
}

/** Reads responses of the form `<reasoning>…</reasoning><answer>…</answer>`. */
export type ShapeReader = (response: string) => ResponseShape;

/** @throws ArgumentError for tags that are not plain words. */
export function shapeReader(tags: ResponseTags | 'none', conventions: 'rlp' | 'tunrex' = 'rlp'): ShapeReader {
  if (tags === 'none') return () => ({ reasoning: undefined, answer: undefined, hasReasoningTags: false });
  const { reasoning, answer } = tags;
  const readReasoning = pairReader(reasoning);
  const readAnswer = pairReader(answer);
  const hasTags = (text: string) =>
    conventions === 'tunrex' && text.includes(`<${reasoning}>`) && text.includes(`</${reasoning}>`);
  return (response) => {
    const content = readReasoning(response);
    return {
      reasoning: content,
      answer: readAnswer(response),
      hasReasoningTags: content !== undefined || hasTags(response),
    };
  };
}

/** Searches for fixed text, in linear time. */
function pairReader(tag: string): (text: string) => string | undefined {
  if (!/^[\w-]+$/.test(tag)) {
    throw new ArgumentError(
      `tags: expected names of letters, digits, "_" and "-", without brackets, got ${JSON.stringify(tag)}`,
    );
  }
  const opening = `<${tag}>`;
  const closing = `</${tag}>`;
  return (text) => {
    const start = text.indexOf(opening);
    const end = start < 0 ? -1 : text.indexOf(closing, start + opening.length);
    return end < 0 ? undefined : trimmed(text.slice(start + opening.length, end));
  };
}
