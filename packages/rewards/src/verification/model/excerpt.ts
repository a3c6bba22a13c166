/** Pieces of about `size` words, `stride` words apart. */
export function windows(text: string, size: number, stride = size): string[] {
  const words = text.match(/\S+/gu) ?? [];
  const found: string[] = [];
  for (let start = 0; start < words.length; start += stride) {
    // A short rest joins the piece before it, because few words say little.
    const isLast = words.length - start - size < stride / 2;
    found.push(words.slice(start, isLast ? undefined : start + size).join(' '));
    if (isLast) break;
  }
  return found;
}

const longestCommon = 12;

/** The cheapest way to a place of a run, and where its last word begins. */
interface Way {
  readonly cost: number;
  readonly start: number;
}

/**
 * A run of letters as words. It is parted where common words begin and end, so that `youarestupid` is `you are stupid`. A common word costs 1,
 * another 2 and 1 for each letter. The cheapest way wins. Linear.
 */
export function partedWords(run: string, common: ReadonlySet<string>): string {
  const letters = run.toLowerCase();
  const ways: Way[] = [{ cost: 0, start: 0 }];
  let unknown: Way = { cost: Infinity, start: 0 };
  for (let end = 1; end <= run.length; end++) {
    const before = ways[end - 1]!;
    unknown =
      before.cost + 3 <= unknown.cost + 1
        ? { cost: before.cost + 3, start: end - 1 }
        : { ...unknown, cost: unknown.cost + 1 };
    let best = unknown;
    for (let start = Math.max(0, end - longestCommon); start < end; start++) {
      const cost = ways[start]!.cost + 1;
      if (cost < best.cost && common.has(letters.slice(start, end))) best = { cost, start };
    }
    ways.push(best);
  }
  const words: string[] = [];
  for (let end = run.length; end > 0; end = ways[end]!.start) words.push(run.slice(ways[end]!.start, end));
  return words.reverse().join(' ');
}

/** The text without what stands between lines of three backticks. */
export function withoutCode(text: string): string {
  const parts = text.split(/^[^\S\n]*```.*\n?/m);
  return parts.filter((_, at) => at % 2 === 0).join('');
}
