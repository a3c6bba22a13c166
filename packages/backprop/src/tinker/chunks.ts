import type { TokenId } from '@rlp/core';

/** Limits of one request. */
export interface ChunkLimits {
  readonly sequencesPerRequest: number;
  readonly bytesPerRequest: number;
}

/** Bytes of JSON that a token takes: its id, its target and two numbers. */
const bytesPerToken = 48;

/** Cuts sequences into requests that keep the limits. A sequence above them goes alone. */
export function chunksOf<Item extends { readonly tokens: readonly TokenId[] }>(
  items: readonly Item[],
  { sequencesPerRequest, bytesPerRequest }: ChunkLimits,
): Item[][] {
  const chunks: Item[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const size = item.tokens.length * bytesPerToken;
    const last = chunks.at(-1);
    if (last === undefined || last.length >= sequencesPerRequest || bytes + size > bytesPerRequest) {
      chunks.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return chunks;
}
