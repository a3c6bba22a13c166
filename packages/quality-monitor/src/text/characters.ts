import { whiteSpaceTable } from '@rlp/answers/text';

/** What a character is: part of a chunk, an ASCII letter, white space, or garbled. */
export const characterKinds = { part: 0, letter: 1, space: 2, garbled: 3, garbledSpace: 4 } as const;

let table: Uint8Array | undefined;

/** Kind of each UTF-16 unit. Shape: `[65536]`. Built once. */
export function kindTable(): Uint8Array {
  if (table !== undefined) return table;
  const { letter, space, garbled, garbledSpace } = characterKinds;
  table = new Uint8Array(65_536);
  table.fill(letter, 65, 91).fill(letter, 97, 123);
  // Controls, surrogates, private and replacement characters.
  table.fill(garbled, 0, 9).fill(garbled, 14, 32).fill(garbled, 127, 160);
  table.fill(garbled, 0xd800, 0xf900).fill(garbled, 0xfff0);
  for (const [code, isSpace] of whiteSpaceTable().entries()) {
    if (isSpace === 1) table[code] = table[code] === garbled ? garbledSpace : space;
  }
  return table;
}
