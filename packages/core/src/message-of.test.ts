import { expect, it } from 'vitest';
import { messageOf, withPlace } from './message-of.ts';

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

it.each([
  [
    'V8',
    '    at bug (/home/me/my project/rewards.ts:12:5)\n    at main (file:///home/me/run.ts:3:1)',
    'rewards.ts:12',
  ],
  ['tsx', '    at file:///home/me/rewards.ts:12:5', 'rewards.ts:12'],
  ['Windows', '    at bug (C:\\me\\rewards.ts:12:5)', 'rewards.ts:12'],
  ['a page', 'bug@http://localhost/assets/page.js?v=1:12:5', 'page.js:12'],
  [
    'a call within a package',
    '    at f (/a/node_modules/zod/v4.js:1:2)\n    at g (node:internal/x.js:1:2)\n    at bug (/a/b.mts:7:1)',
    'b.mts:7',
  ],
])('says where a mistake is: %s', (_, stack, place) => {
  const mistake = Object.assign(new TypeError('no trim'), { stack: `TypeError: no trim\n${stack}` });
  expect(withPlace('no trim', mistake)).toBe(`no trim, at ${place}`);
});

it('says no place if the stack cannot be read', () => {
  const stack = {
    get: () => {
      throw new Error('closed');
    },
  };
  expect(withPlace('no trim', Object.defineProperty(new TypeError('no trim'), 'stack', stack))).toBe(
    'no trim',
  );
});

it('says no place for other errors, and where none is known', () => {
  expect(withPlace('no disk', new Error('no disk'))).toBe('no disk');
  expect(withPlace('no trim', Object.assign(new TypeError('no trim'), { stack: 'TypeError: no trim' }))).toBe(
    'no trim',
  );
});
