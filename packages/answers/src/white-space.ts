/** The highest code unit of white space. */
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
