import { expect, it } from 'vitest';
import { messageOf } from './message-of.ts';

const unreadable = {
  toString() {
    throw new Error('no');
  },
};

it.each([
  [new TypeError('wrong type'), 'wrong type'],
  ['a text', 'a text'],
  [undefined, 'undefined'],
  [7, '7'],
  [unreadable, 'threw something that cannot be read'],
])('says what was thrown, whatever it is', (thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});
