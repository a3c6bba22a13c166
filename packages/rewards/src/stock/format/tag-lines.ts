import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { tagNames } from './tag-format.ts';

const schema = z.strictObject({
  /** Tags of a response, in their order. Required. */
  tags: tagNames,
  /** Whether the tags make up the whole response, or only its end. Default `'whole'`. */
  place: z.enum(['whole', 'end']).default('whole'),
});

/** Options of {@link tagLines}. */
export interface TagLinesOptions extends z.input<typeof schema> {}

/**
 * 1 if a response consists of tags on lines, else 0: each opening tag is followed by a line break, each closing one by a line break
 * and the next opening tag, and nothing but a line break follows the last:
 *
 *     <think>⏎…</think>⏎<answer>⏎…</answer>
 *
 * @see https://github.com/fw-ai-external/reward-kit `format_reward`
 */
export function tagLines<Metadata = unknown>(options: TagLinesOptions): RewardFunction<Metadata> {
  const { tags, place } = parseOptions('tagLines', schema, options);
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
