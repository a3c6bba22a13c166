import { expect, it } from 'vitest';
import { terminalText } from './terminal-text.ts';

it.each([
  ['plain, ü 🌞 👩‍🚀\n\tand more', 'plain, ü 🌞 👩‍🚀\n\tand more'],
  ['\u001b[2J\u001b]0;title\u0007', '\\u001b[2J\\u001b]0;title\\u0007'],
  ['over\rwritten\b\u007f', 'over\\u000dwritten\\u0008\\u007f'],
  ['\u009b31m', '\\u009b31m'],
  ['\u202eesrever\u2028', '\\u202eesrever\\u2028'],
])('shows what terminals would obey: %j', (text, shown) => {
  expect(terminalText(text)).toBe(shown);
});
