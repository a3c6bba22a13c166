import { ArgumentError } from '@rlp/core';
import { trimmed } from '../text/characters.ts';

/** Tags that a response is expected to have, in their order. */
export interface ResponseTags {
  readonly reasoning: string;
  readonly answer: string;
}

/** A response, taken apart. */
interface ResponseShape {
  /** Content of the first pair of each tag, white space around it removed; absent without such a pair. */
  readonly reasoning: string | undefined;
  readonly answer: string | undefined;
  /** Both reasoning tags are there, whatever their order. */
  readonly hasReasoningTags: boolean;
}

/** Reads responses of the form `<reasoning>…</reasoning><answer>…</answer>`. */
export type ShapeReader = (response: string) => ResponseShape;

/** @throws ArgumentError for tags that are not plain words. */
export function shapeReader(tags: ResponseTags | 'none'): ShapeReader {
  if (tags === 'none') return () => ({ reasoning: undefined, answer: undefined, hasReasoningTags: false });
  const { reasoning, answer } = tags;
  const readReasoning = pairReader(reasoning);
  const readAnswer = pairReader(answer);
  const hasTags = (text: string) => text.includes(`<${reasoning}>`) && text.includes(`</${reasoning}>`);
  return (response) => {
    const content = readReasoning(response);
    return {
      reasoning: content,
      answer: readAnswer(response),
      hasReasoningTags: content !== undefined || hasTags(response),
    };
  };
}

/** Searches for fixed text, so no input takes longer than its length. */
function pairReader(tag: string): (text: string) => string | undefined {
  if (!/^[\w-]+$/.test(tag)) {
    throw new ArgumentError(
      `tags must be named by letters, digits, "_" and "-", without brackets, got ${JSON.stringify(tag)}`,
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
