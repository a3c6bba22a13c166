import type { TokenId } from '@rlp/core';

/** Lengths of the repeats that a guess needs, in tokens. Longer ones are tried first. */
const repeats = [3, 2];

/**
 * Guesses the next tokens of a text: those that followed the last time that it had the same few tokens. Prompt lookup decoding of Saxena
 * (2023).
 *
 * @param most - Maximum tokens of the guess.
 * @returns Empty if the text does not repeat itself.
 */
export function lookUp(text: readonly TokenId[], most: number): readonly TokenId[] {
  for (const length of repeats) {
    const from = lastRepeat(text, length);
    if (from !== undefined) return continued(text, from, most);
  }
  return [];
}

/** Position after the last earlier occurrence of the text's last `length` tokens. */
function lastRepeat(text: readonly TokenId[], length: number): number | undefined {
  const end = text.length - length;
  for (let start = end - 1; start >= 0; start--) {
    let same = 0;
    while (same < length && text[start + same] === text[end + same]) same++;
    if (same === length) return start + length;
  }
  return undefined;
}

/** Tokens from a position on. If the text ends, the guess continues with itself. */
function continued(text: readonly TokenId[], from: number, count: number): readonly TokenId[] {
  const guess: TokenId[] = [];
  while (guess.length < count) {
    const place = from + guess.length;
    guess.push(place < text.length ? text[place]! : guess[place - text.length]!);
  }
  return guess;
}
