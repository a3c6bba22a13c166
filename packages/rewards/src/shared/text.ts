const highest = 0x3000;

let table: Uint8Array | undefined;

/**
 * A 1 at the index of every UTF-16 code unit that is white space, as Python's `str.split` and `str.strip` have it. Those past the end
 * are none. Built once.
 */
export function whiteSpaceTable(): Uint8Array {
  if (table !== undefined) return table;
  table = new Uint8Array(highest + 1);
  table.fill(1, 0x09, 0x0e).fill(1, 0x1c, 0x21).fill(1, 0x2000, 0x200b);
  for (const code of [0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, highest]) table[code] = 1;
  return table;
}

/** A text without white space around it, by {@link whiteSpaceTable}. */
export function trimmed(text: string): string {
  const space = whiteSpaceTable();
  let [start, end] = [0, text.length];
  while (start < end && space[text.charCodeAt(start)] === 1) start += 1;
  while (end > start && space[text.charCodeAt(end - 1)] === 1) end -= 1;
  return text.slice(start, end);
}

/** Calls `visit` with the beginning and the end of each word, until it gives `'stop'`. */
export function visitWords(text: string, visit: (start: number, end: number) => 'stop' | undefined): void {
  const space = whiteSpaceTable();
  const { length } = text;
  let start = -1;
  for (let at = 0; at <= length; at++) {
    const isSpace = at === length || space[text.charCodeAt(at)] === 1;
    if (!isSpace) {
      if (start < 0) start = at;
    } else if (start >= 0) {
      if (visit(start, at) === 'stop') return;
      start = -1;
    }
  }
}

/** The words of a text, which white space separates. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  visitWords(text, (start, end) => {
    words.push(text.slice(start, end));
    return undefined;
  });
  return words;
}

/** How many runs of `size` items there are, and how many of them differ. Linear in the items. */
export function countNgrams(
  items: readonly (string | number)[],
  size: number,
): { readonly total: number; readonly unique: number } {
  const total = Math.max(0, items.length - size + 1);
  const seen = new Set<string | number>();
  for (let at = 0; at < total; at++) {
    seen.add(size === 1 ? items[at]! : items.slice(at, at + size).join('\u0000'));
  }
  return { total, unique: seen.size };
}

/** The text in a Markdown fence that encloses all of it. Else the text itself. Trimmed. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || trimmed.length < 6) return trimmed;
  const lineEnd = trimmed.indexOf('\n');
  const isLabelled = lineEnd > 0 && /^```[\w+-]*\s*$/.test(trimmed.slice(0, Math.min(lineEnd, 64)));
  return trimmed.slice(isLabelled ? lineEnd : 3, -3).trim();
}

/** Lower-case words, one space between them, without punctuation. Whole-word matching compares them. */
export function foldedWords(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’]*/gu) ?? []).join(' ');
}

/** How often a regular expression with the flag `g` matches. */
export function countMatches(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count += 1;
  return count;
}
