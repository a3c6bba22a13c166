/**
 * Lets `toEqual` compare lists of numbers at once. Vitest takes 10 µs for each number, so that the weights of a small model took
 * seconds.
 */
import { expect } from 'vitest';

const added = Symbol.for('rlp.numbers-equal');
const flags = globalThis as { [added]?: boolean };

type Numbers = ArrayLike<unknown>;

/** A typed array, or an array. */
function isList(value: unknown): value is Numbers {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/** `true` for equal lists of one type that hold only numbers. Vitest judges all others, as it shows how they differ. */
function haveEqualNumbers(one: unknown, other: unknown): true | undefined {
  if (!isList(one) || !isList(other)) return undefined;
  if (one.constructor !== other.constructor || one.length !== other.length) return undefined;
  for (let at = 0; at < one.length; at++) {
    const value = one[at];
    if ((typeof value !== 'number' && typeof value !== 'bigint') || !Object.is(value, other[at]))
      return undefined;
  }
  return true;
}

// The files of a worker share its process, and each of them comes here.
if (!flags[added]) expect.addEqualityTesters([haveEqualNumbers]);
flags[added] = true;
