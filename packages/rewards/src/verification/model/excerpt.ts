/** Characters of a response that are looked at. A longer one is judged by its ends. */
const judgedCharacters = 100_000;

/** The text, or its first and last halves of `limit` where it is longer. */
export function excerpt(text: string, limit = judgedCharacters): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  return `${text.slice(0, half)}\n${text.slice(-half)}`;
}

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
