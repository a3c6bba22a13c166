/** How often a part occurs in a text, without overlaps. */
export function occurrencesOf(text: string, part: string): number {
  return text.split(part).length - 1;
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
  return text.match(pattern)?.length ?? 0;
}
