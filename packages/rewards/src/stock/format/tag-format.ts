import { tagName } from '@rlp/answers';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { occurrencesOf } from '../../shared/text.ts';

const schema = z.strictObject({
  /** Tags of a response, in their order. Required. */
  tags: z
    .array(tagName)
    .readonly()
    .refine(
      (tags) => tags.length > 0 && new Set(tags).size === tags.length,
      'must be different tags, at least one',
    ),
  /** Whether all conditions must hold for 1, or the share that does is the reward. Default `'all'`. */
  grading: z.enum(['all', 'share']).default('all'),
});

/** Options of {@link tagFormat}. */
export interface TagFormatOptions extends z.input<typeof schema> {}

/**
 * Whether a response consists of the given tags, such as `<reasoning>…</reasoning><answer>…</answer>`.
 *
 * `n` tags have `2n + 1` conditions. Each tag opens exactly once. Each closes exactly once, after it opened. The layout is
 * right: tags in order, none nested, none without anything visible but its own name, only white space around them. The reward is a promise.
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
    const { isVisible } = await import('../../shared/seen-text.ts');
    return graded(
      conditions,
      contents.every((content, at) => isVisible(content, tags[at])),
    );
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

const linesSchema = schema.pick({ tags: true }).extend({
  /** Whether the tags make up the whole response, or only its end. Default `'whole'`. */
  place: z.enum(['whole', 'end']).default('whole'),
});

/** Options of {@link tagLines}. */
export interface TagLinesOptions extends z.input<typeof linesSchema> {}

/**
 * 1 if a response consists of tags on lines, else 0: each opening tag is followed by a line break, each closing one by a line break
 * and the next opening tag, and nothing but a line break follows the last:
 *
 *     <think>⏎…</think>⏎<answer>⏎…</answer>
 *
 * @see https://github.com/fw-ai-external/reward-kit `format_reward`
 */
export function tagLines<Metadata = unknown>(options: TagLinesOptions): RewardFunction<Metadata> {
  const { tags, place } = parseOptions('tagLines', linesSchema, options);
  const first = `<${tags[0]}>\n`;
  const between = tags.slice(1).map((tag, k) => `</${tags[k]}>\n<${tag}>\n`);
  const last = `</${tags.at(-1)}>`;
  return ({ response }) => {
    let at = place === 'whole' ? (response.startsWith(first) ? 0 : -1) : response.indexOf(first);
    if (at < 0) return 0;
    at += first.length;
    for (const part of between) {
      const found = response.indexOf(part, at);
      if (found < 0) return 0;
      at = found + part.length;
    }
    const text = response.endsWith('\n') ? response.slice(0, -1) : response;
    return text.endsWith(last) && text.length - last.length >= at ? 1 : 0;
  };
}
