import type { TokenId } from '@rlp/core';

/** How many tokens must have occurred before in this order. Longer repeats are tried first. */
const repeats = [3, 2];

/**
 * Guesses what a text says next: what followed the last time that it said the same few tokens. Prompt lookup decoding of Saxena (2023).
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

/** Where the text goes on after the last earlier occurrence of its last `length` tokens. */
function lastRepeat(text: readonly TokenId[], length: number): number | undefined {
  const end = text.length - length;
  for (let start = end - 1; start >= 0; start--) {
    let same = 0;
    while (same < length && text[start + same] === text[end + same]) same++;
    if (same === length) return start + length;
  }
  return undefined;
}

/** Tokens from a place on. Where the text ends, the guess goes on with itself. */
function continued(text: readonly TokenId[], from: number, count: number): readonly TokenId[] {
  const guess: TokenId[] = [];
  while (guess.length < count) {
    const place = from + guess.length;
    guess.push(place < text.length ? text[place]! : guess[place - text.length]!);
  }
  return guess;
}
