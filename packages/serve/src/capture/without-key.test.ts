import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { errorWithoutKey } from './without-key.ts';

const key = 'rlp-0123';

it('leaves an error that does not show the key as it is', () => {
  const error = new TypeError('no', { cause: new Error('inner') });
  expect(errorWithoutKey(error, key)).toBe(error);
  expect(errorWithoutKey(undefined, key)).toBe(undefined);
});

it.each([
  new Error(`auth ${key} failed`),
  new RangeError('outer', { cause: new Error(`inner ${key}`) }),
  Object.assign(new Error('refused'), {
    headers: { authorization: `Bearer ${key}` },
    url: `/?${key}`,
    status: 401,
  }),
])('hides the key wherever an error shows it: %o', (error) => {
  const copy = errorWithoutKey(error, key) as typeof error & { readonly status?: number };
  expect(inspect(copy, { depth: 9 })).not.toContain(key);
  expect(copy).toMatchObject({ name: error.name, message: error.message.replace(key, '[key]') });
  expect(copy.status).toBe('status' in error ? error.status : undefined);
  expect(copy.stack).toContain('without-key.test.ts');
});

it('hides the key of what is thrown and is no error', () => {
  expect(errorWithoutKey({ said: key }, key)).toBe('{"said":"[key]"}');
});
