/** Whether a character is white space: that of Unicode, next line or one of the four information separators. */
function isSpace(character: string): boolean {
  const code = character.charCodeAt(0);
  if (code === 0x85 || (code >= 28 && code <= 31)) return true;
  return code !== 0xfeff && /\s/.test(character);
}

/** Controls, surrogates, private and replacement characters. */
function isGarbled(code: number): boolean {
  if (code < 160) return code < 9 || (code > 13 && code < 32) || code > 126;
  return (code >= 0xd800 && code <= 0xf8ff) || code >= 0xfff0;
}

/** Trims white space, including the four information separators. */
export function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text[start]!)) start += 1;
  while (end > start && isSpace(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

/** What a character is: part of a chunk, an ASCII letter, white space, or garbled. */
export const characterKinds = { part: 0, letter: 1, space: 2, garbled: 3, garbledSpace: 4 } as const;

let table: Uint8Array | undefined;

/** Kind of each UTF-16 unit. Shape: `[65536]`. */
export function kindTable(): Uint8Array {
  const { part, letter, space, garbled, garbledSpace } = characterKinds;
  table ??= Uint8Array.from({ length: 65_536 }, (_, code) => {
    const character = String.fromCharCode(code);
    if (isSpace(character)) return isGarbled(code) ? garbledSpace : space;
    if (isGarbled(code)) return garbled;
    return /[A-Za-z]/.test(character) ? letter : part;
  });
  return table;
}
