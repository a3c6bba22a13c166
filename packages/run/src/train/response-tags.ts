import { isRecord } from '@rlp/core';

/**
 * Tags that a monitor should expect in responses: those that a reward asks for. A run whose rewards name no tags has plain text.
 *
 * @param rewards - Rewards of the configuration.
 */
export function responseTags(
  rewards: unknown,
): 'none' | { readonly reasoning: string; readonly answer: string } {
  const parts = isRecord(rewards) ? Object.values(rewards) : [];
  for (const part of parts) {
    const params = isRecord(part) && part.name === 'tagFormat' && isRecord(part.params) ? part.params : {};
    const tags = Array.isArray(params.tags) ? params.tags.filter((tag) => typeof tag === 'string') : [];
    const [reasoning, answer] = [tags[0], tags.at(-1)];
    if (tags.length > 1 && reasoning !== undefined && answer !== undefined) return { reasoning, answer };
  }
  return 'none';
}
