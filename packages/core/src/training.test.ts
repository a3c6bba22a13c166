import { expect, it } from 'vitest';
import { type HostTensor, numbersOf } from './training.ts';

const data = Float32Array.of(1, 2, 3, 4, 5, 6);

it('reads the numbers of a tensor in memory where they are', () => {
  expect(numbersOf({ shape: [2, 3], data })).toBe(data);
});

it('copies the numbers of a tensor in a file, into the array that is given', () => {
  const file: HostTensor = {
    shape: [2, 3],
    get data(): Float32Array {
      throw new Error('would be kept');
    },
    copyTo: (target, first) => target.set(data.subarray(first, first + target.length)),
  };
  expect(numbersOf(file)).toEqual(data);
  const into = new Float32Array(8);
  const numbers = numbersOf(file, into);
  expect(numbers).toEqual(data);
  expect(numbers.buffer).toBe(into.buffer);
});
