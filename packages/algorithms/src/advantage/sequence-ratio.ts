import { requireArguments } from '@rlp/core';

/**
 * Similarity of two texts in [0, 1]: `2·M / (|a| + |b|)`, M characters in matching blocks (Ratcliff and Obershelp).
 *
 * Equals Python's `difflib.SequenceMatcher(None, a, b).ratio()`. Blocks are found longest first, and the leftmost of equal
 * ones first. If the second text has 200 or more characters, those that make up more than 1 % of it start no block. Lengths
 * are in code points. Not symmetric. Two empty texts have ratio 1.
 *
 * @see https://docs.python.org/3/library/difflib.html#difflib.SequenceMatcher.ratio
 */
export function sequenceRatio(a: string, b: string): number {
  requireArguments('sequenceRatio', { a: 'text', b: 'text' }, a, b);
  const first = Array.from(a);
  const second = Array.from(b);
  const total = first.length + second.length;
  if (total === 0) return 1;
  const positions = positionsOf(second);
  let matched = 0;
  const open: Window[] = [{ fromA: 0, toA: first.length, fromB: 0, toB: second.length }];
  for (let window = open.pop(); window !== undefined; window = open.pop()) {
    const { a: at, b: bt, size } = longestMatch(first, second, positions, window);
    if (size === 0) continue;
    matched += size;
    open.push({ fromA: window.fromA, toA: at, fromB: window.fromB, toB: bt });
    open.push({ fromA: at + size, toA: window.toA, fromB: bt + size, toB: window.toB });
  }
  return (2 * matched) / total;
}

interface Window {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

/** Where each character stands, without those too frequent to tell anything. */
function positionsOf(text: readonly string[]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [index, character] of text.entries()) {
    const known = positions.get(character);
    if (known) known.push(index);
    else positions.set(character, [index]);
  }
  if (text.length < 200) return positions;
  const limit = Math.floor(text.length / 100) + 1;
  for (const [character, { length }] of positions) if (length > limit) positions.delete(character);
  return positions;
}

interface Match {
  a: number;
  b: number;
  size: number;
}

function longestMatch(
  first: readonly string[],
  second: readonly string[],
  positions: ReadonlyMap<string, readonly number[]>,
  { fromA, toA, fromB, toB }: Window,
): Match {
  const best: Match = { a: fromA, b: fromB, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = fromA; i < toA; i++) {
    const next = new Map<number, number>();
    for (const j of positions.get(first[i]!) ?? []) {
      if (j < fromB) continue;
      if (j >= toB) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) Object.assign(best, { a: i - size + 1, b: j - size + 1, size });
    }
    lengths = next;
  }
  // Frequent characters start no block, but belong to one that they touch.
  while (best.a > fromA && best.b > fromB && first[best.a - 1] === second[best.b - 1]) {
    best.a--;
    best.b--;
    best.size++;
  }
  while (
    best.a + best.size < toA &&
    best.b + best.size < toB &&
    first[best.a + best.size] === second[best.b + best.size]
  ) {
    best.size++;
  }
  return best;
}
