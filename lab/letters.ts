const ranges = [
  [0x20, 95],
  [0x3400, 6_592],
  [0x4e00, 20_992],
  [0xac00, 11_172],
  [0x20000, 42_720],
] as const;

/** Alphabet of so many characters, ASCII first, for tokenizers of models with a large vocabulary. 81,571 at most. */
export function letters(count: number): string {
  return ranges
    .flatMap(([first, length]) => Array.from({ length }, (_, at) => String.fromCodePoint(first + at)))
    .slice(0, count)
    .join('');
}
