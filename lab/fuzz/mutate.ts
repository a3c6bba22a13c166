import type { RandomStream } from '@rlp/core';

/** Values that are not what a field expects. */
const strange: readonly unknown[] = [
  null,
  undefined,
  true,
  0,
  -1,
  0.5,
  -0,
  1e9,
  1e308,
  2 ** 53,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '',
  'x',
  '0',
  '\ud800',
  '__proto__',
  'a'.repeat(300),
  [],
  [[]],
  [null],
  {},
  { length: 3 },
  { toString: 1 },
  [1, 'a', null],
];

type Draw = (count: number) => number;

/** Draws whole numbers below `count` from a stream. */
export function drawsOf(random: RandomStream): Draw {
  return (count) => Math.min(count - 1, Math.floor(random.uniform() * count));
}

/** A copy of plain data with one to three parts replaced, removed, doubled or moved. */
export function mutated(data: unknown, draw: Draw): unknown {
  let result = structuredClone(data);
  for (let left = 1 + draw(3); left > 0; left--) result = mutatedOnce(result, draw);
  return result;
}

function mutatedOnce(data: unknown, draw: Draw): unknown {
  if (typeof data === 'string' && draw(2) === 0) return mutatedText(data, draw);
  if (typeof data !== 'object' || data === null || draw(8) === 0) return strange[draw(strange.length)];
  const keys = Object.keys(data);
  if (keys.length === 0) return strange[draw(strange.length)];
  const key = keys[draw(keys.length)]!;
  const content = (data as Record<string, unknown>)[key];
  const changed: Record<string, unknown> = { ...data };
  const change = draw(12);
  if (change === 0) delete changed[key];
  else if (change === 1) changed[`${key}x`] = content;
  else if (change === 2) changed[keys[draw(keys.length)]!] = content;
  else changed[key] = mutatedOnce(content, draw);
  return Array.isArray(data) ? Object.values(changed) : changed;
}

/** A text with characters changed, removed, repeated or cut. */
export function mutatedText(text: string, draw: Draw): string {
  const at = draw(text.length + 1);
  const piece = text.slice(at, at + 1 + draw(8));
  switch (draw(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(at + piece.length);
    case 2:
      return text.slice(0, at) + piece.repeat(1 + draw(40)) + text.slice(at);
    case 3:
      return `${text.slice(0, at)}${['{', '}', '"', '\\', '[', '\0', '\ud800', '%}', '1e999', '<'][draw(10)]}${text.slice(at)}`;
    case 4:
      return text.slice(at) + text.slice(0, at);
    default:
      return text.slice(0, at) + String.fromCharCode(draw(0x250)) + text.slice(at + 1);
  }
}
