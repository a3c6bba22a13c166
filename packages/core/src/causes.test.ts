import { expect, it } from 'vitest';
import { causeOf, isPassing, rootCause, withCause } from './causes.ts';
import { SamplerError, TimeoutError } from './errors.ts';

const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

it('remembers the error behind a record that stays JSON data', () => {
  const failure = withCause({ message: 'broke' }, refused);
  expect([causeOf(failure), JSON.stringify(failure)]).toEqual([refused, '{"message":"broke"}']);
  expect(causeOf({ ...failure })).toBeUndefined();
});

it('finds the innermost error', () => {
  const outer = new SamplerError('no answer', { cause: new TypeError('fetch failed', { cause: refused }) });
  expect(rootCause(outer)).toBe(refused);
  expect(rootCause(new Error('alone', { cause: 'text' }))).toMatchObject({ message: 'alone' });
  expect(rootCause('text')).toBe('text');
  const circle = new Error('circle');
  circle.cause = circle;
  expect(rootCause(circle)).toBe(circle);
});

it.each([
  [true, new SamplerError('x', { cause: refused })],
  [true, new TimeoutError('late')],
  [true, new DOMException('late', 'TimeoutError')],
  [true, Object.assign(new Error('503'), { isPassing: true })],
  [false, new TypeError("Cannot read properties of undefined (reading 'length')")],
  [false, Object.assign(new Error('no such file'), { code: 'ENOENT' })],
  [false, Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })],
  [false, undefined],
])('is %s that trying again may help: %s', (expected, error) => {
  expect(isPassing(error)).toBe(expected);
});
