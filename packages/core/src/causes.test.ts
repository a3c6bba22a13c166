import { expect, it } from 'vitest';
import { causeOf, isStoppedBy, rootCause, transienceOf, withCause } from './causes.ts';
import { ArgumentError, EngineError, SamplerError, TimeoutError } from './errors.ts';

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

it('knows an error of its signal, once the signal has fired', () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const wrapped = new SamplerError('x', { cause: reason });
  const named = new SamplerError('x', { cause: new DOMException('stop', 'AbortError') });
  expect([wrapped, named].map((error) => isStoppedBy(controller.signal, error))).toEqual([false, false]);
  controller.abort(reason);
  const errors = [wrapped, named, new SamplerError('x'), undefined];
  expect(errors.map((error) => isStoppedBy(controller.signal, error))).toEqual([true, true, false, false]);
});

it.each([
  ['passing', new SamplerError('x', { cause: refused })],
  ['passing', new EngineError('x', { cause: new TimeoutError('late') })],
  ['lasting', new TimeoutError('x', { cause: new ArgumentError('wrong') })],
  ['passing', new TimeoutError('late')],
  ['passing', new DOMException('late', 'TimeoutError')],
  ['passing', Object.assign(new Error('503'), { isPassing: true })],
  ['lasting', new SamplerError('x', { cause: new EngineError('the engine was closed') })],
  ['lasting', new ArgumentError('pass `chat`')],
  ['unknown', new TypeError("Cannot read properties of undefined (reading 'length')")],
  ['unknown', Object.assign(new Error('no such file'), { code: 'ENOENT' })],
  ['unknown', Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })],
  ['unknown', undefined],
  ['unknown', new Error('x', { cause: 'a text' })],
  ['unknown', new Error('x', { cause: null })],
  ['unknown', Object.assign(new Error('x'), { isPassing: 'maybe' })],
])('says whether trying again may help: %s, %s', (expected, error) => {
  expect(transienceOf(error)).toBe(expected);
});
