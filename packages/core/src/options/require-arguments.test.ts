import { describe, expect, it } from 'vitest';
import { ArgumentError } from '../errors.ts';
import { requireArguments, requireChoice, requireFields } from './require-arguments.ts';

describe('requireArguments', () => {
  it.each([
    ['text', 7, 'f: x must be text, got 7'],
    ['number', Number.NaN, 'f: x must be a number, got NaN'],
    ['number', '1', 'f: x must be a number, got "1"'],
    ['function', undefined, 'f: x must be a function, got undefined'],
    ['object', [], 'f: x must be an object, got an empty list'],
    ['list', Promise.resolve([]), 'f: x must be a list, got a promise; await the promise'],
    ['numbers', 'abc', 'f: x must be a list of numbers, got "abc"'],
    ['numbers', [1, Number.NaN], 'f: x[1] must be a number, got NaN'],
    ['lists', [[1], null], 'f: x[1] must be a list, got null'],
    ['objects[]', [[{}], [{}, null]], 'f: x[1][1] must be an object, got null'],
    ['numbers[]', 3, 'f: x must be a list of lists of numbers, got 3'],
    ['lists[]?', [[[1]], [2]], 'f: x[1][0] must be a list, got 2'],
    ['given', null, 'f: x must be given, got null'],
    [
      'operations',
      {},
      'f: x must be operations on tensors, such as new Tape() of @rlp/tensor, got an object',
    ],
  ] as const)('refuses what is not %s: %j', (kind, value, message) => {
    expect(() => requireArguments('f', { x: kind }, value)).toThrow(ArgumentError);
    expect(() => requireArguments('f', { x: kind }, value)).toThrow(message);
  });

  it('says that a number is a bigint', () => {
    expect(() => requireArguments('f', { x: 'numbers' }, [5n])).toThrow(
      'f: x[0] must be a number, got the bigint 5n',
    );
  });

  it('takes typed arrays for lists, and leaves out what may be left out', () => {
    const kinds = { a: 'numbers', b: 'lists', c: 'text?' } as const;
    expect(requireArguments('f', kinds, Float32Array.of(1), [new Uint8Array(2), [3]], undefined)).toBe(
      undefined,
    );
    expect(() => requireArguments('f', kinds, [1], [], null)).toThrow('f: c must be text, got null');
  });
});

describe('requireChoice', () => {
  it('takes the names that are known, and says which one was meant', () => {
    const choose = (value: unknown) => requireChoice('f', 'form', value, ['bounds', 'difference']);
    expect(choose('difference')).toBe(undefined);
    expect(() => choose('Bound')).toThrow(
      new ArgumentError(`f: form must be one of bounds, difference, got "Bound"; did you mean 'bounds'?`),
    );
    expect(() => choose(7)).toThrow(new ArgumentError('f: form must be one of bounds, difference, got 7'));
  });
});

describe('requireFields', () => {
  it('names a field that was given under nearly its name', () => {
    const given = { reward: [1], extra: 'of the caller' };
    expect(() => requireFields('f', { rewards: 'numbers' }, given)).toThrow(
      'f: rewards must be a list of numbers, got undefined; did you mean rewards by reward?',
    );
    const right = { rewards: [1], extra: 'of the caller' };
    expect(requireFields('f', { rewards: 'numbers' }, right)).toBe(right);
  });

  it('names the fields of an argument that is missing', () => {
    expect(() => requireFields('f', { a: 'text', b: 'text' }, null)).toThrow(
      'f: expected an object with a, b, got null',
    );
    expect(() => requireFields('f', {}, 7)).toThrow('f: expected an object, got 7');
  });

  it('takes a function or a class with one of the fields, and no other', () => {
    const reset = () => undefined;
    class Bare {}
    expect(requireFields('f', { reset: 'function', step: 'number?' }, Object.assign(reset, { reset }))).toBe(
      reset,
    );
    expect(() => requireFields('f', { reset: 'function' }, Bare)).toThrow(
      'got the class Bare; write new Bare()',
    );
    const classless = () => 'class Bare';
    expect(() => requireFields('f', { reset: 'function' }, classless)).not.toThrow(/write new/);
    expect(() => requireFields('f', { reset: 'function' }, classless)).toThrow(ArgumentError);
  });
});
