import { expect, it } from 'vitest';
import { messageOf } from './message-of.ts';

it.each([
  [new Error('no disk'), 'no disk'],
  [new TypeError(), 'TypeError'],
  ['no disk', 'no disk'],
  [{ message: 'of another realm' }, 'of another realm'],
  [{ code: 7, at: 'disk' }, '{"code":7,"at":"disk"}'],
  [{ code: 'x'.repeat(189) }, `{"code":"${'x'.repeat(189)}"}`],
  [{ code: 'x'.repeat(190) }, `{"code":"${'x'.repeat(190)}"…`],
  [{ toString: () => 'its own words' }, 'its own words'],
  [{ message: 7 }, '{"message":7}'],
  [undefined, 'threw undefined'],
  [null, 'threw null'],
  [Object.create(null), 'threw something that cannot be read'],
])('says what was thrown: %o', (thrown, said) => {
  expect(messageOf(thrown)).toBe(said);
});
