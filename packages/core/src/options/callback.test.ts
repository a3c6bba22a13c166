import { expect, it } from 'vitest';
import { callback } from './callback.ts';

it('takes a function as it is', () => {
  expect(callback<typeof Math.sin>().parse(Math.sin)).toBe(Math.sin);
});

it('asks for a function if nothing else is said', () => {
  expect(callback().safeParse(7).error?.issues).toMatchObject([{ message: 'must be a function' }]);
});

it.each([undefined, null, 7, {}, 'Math.sin'])('refuses %j', (given) => {
  const messages = callback('a function of a name').safeParse(given).error?.issues;
  expect(messages?.map(({ message }) => message)).toEqual(['must be a function of a name']);
});
