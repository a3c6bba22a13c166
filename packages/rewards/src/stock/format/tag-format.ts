import { tagName } from '@rlp/answers';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { occurrencesOf } from '../../shared/text.ts';

/** Schema of the tags of a response. */
export const tagNames = z
  .array(tagName)
  .readonly()
  .refine(
    (tags) => tags.length > 0 && new Set(tags).size === tags.length,
    'must be different tags, at least one',
  );

const schema = z.strictObject({
  /** Tags of a response, in their order. Required. */
  tags: tagNames,
  /** Whether all conditions must hold for 1, or the share that does is the reward. Default `'all'`. */
  grading: z.enum(['all', 'share']).default('all'),
});

/** Options of {@link tagFormat}. */
export interface TagFormatOptions extends z.input<typeof schema> {}

/**
 * Whether a response consists of the given tags, such as `<reasoning>…</reasoning><answer>…</answer>`.
 *
 * `n` tags have `2n + 1` conditions. Each tag opens exactly once. Each closes exactly once, after it opened. The layout is
 * right: tags in order, none nested, none without anything visible but names of tags, only white space around them. What they say is not judged. The reward is a promise.
 * `all` gives 1 if all hold, else 0. `share` gives `(conditions that hold) / (2n + 1)`.
 */
export function tagFormat<Metadata = unknown>(options: TagFormatOptions): RewardFunction<Metadata> {
  const { tags, grading } = parseOptions('tagFormat', schema, options);
  const graded = (conditions: readonly boolean[], hasLayout: boolean) => {
    const share = [...conditions, hasLayout].filter(Boolean).length / (conditions.length + 1);
    return grading === 'share' ? share : Math.floor(share);
  };
  return async ({ response }) => {
    const conditions = tags.flatMap((tag) => pairConditions(response, tag));
    const contents = conditions.every(Boolean) ? contentsOf(response, tags) : undefined;
    if (contents === undefined) return graded(conditions, false);
    const { isVisible } = await import('../../shared/visible-text.ts');
    const areVisible = contents.every((text, at) => isVisible(text, tags[at], tags));
    return graded(conditions, areVisible);
  };
}

/** Whether the tag opens exactly once, and whether it closes exactly once after that. */
function pairConditions(text: string, tag: string): [boolean, boolean] {
  const [opening, closing] = [`<${tag}>`, `</${tag}>`];
  const start = text.indexOf(opening);
  const isClosed = occurrencesOf(text, closing) === 1 && start >= 0 && start < text.indexOf(closing);
  return [occurrencesOf(text, opening) === 1, isClosed];
}

/** The contents of tags that follow each other in order with nothing around them. So none is nested. Else `undefined`. */
function contentsOf(text: string, tags: readonly string[]): readonly string[] | undefined {
  const contents: string[] = [];
  let rest = text.trim();
  for (const tag of tags) {
    const opening = `<${tag}>`;
    const end = rest.indexOf(`</${tag}>`);
    if (!rest.startsWith(opening) || end < 0) return undefined;
    contents.push(rest.slice(opening.length, end));
    rest = rest.slice(end + tag.length + 3).trimStart();
  }
  return rest === '' ? contents : undefined;
}
