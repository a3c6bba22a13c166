import { ArgumentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { checkWeights, toTensors, toWeights } from './policy-weights.ts';

const specs = [
  { name: 'a', shape: [2, 3] },
  { name: 'b', shape: [2] },
];
const weights = new Map([
  ['a', { shape: [2, 3], data: new Float32Array(6) }],
  ['b', { shape: [2], data: new Float32Array(2) }],
]);

describe('checkWeights', () => {
  it('accepts exactly the names and shapes of the model', () => {
    expect(() => checkWeights('loadWeights', specs, weights)).not.toThrow();
  });

  it('names every problem at once', () => {
    const wrong = new Map([
      ['a', { shape: [3, 2], data: new Float32Array(6) }],
      ['c', { shape: [], data: new Float32Array(1) }],
    ]);
    expect(() => checkWeights('loadWeights', specs, wrong)).toThrow(
      new ArgumentError(
        [
          'loadWeights: weights do not match the model',
          '  - "c" is not a weight of this model',
          '  - "a" has shape [3,2], expected [2,3]',
          '  - "b" is missing',
        ].join('\n'),
      ),
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses the value %s', (bad) => {
    const broken = new Map(weights).set('b', { shape: [2], data: Float32Array.of(0, bad) });
    expect(() => checkWeights('loadWeights', specs, broken)).toThrow(`"b" has the value ${bad} at 1`);
  });
});

it('toTensors and toWeights are inverse', () => {
  expect(toWeights(toTensors(weights))).toEqual(weights);
});
