import { matrixFromRows, Tape } from '@rlp/tensor';
import { describe, expect, it } from 'vitest';
import { importanceRatio, mixedRatio } from './importance-ratio.ts';
import { type DivergenceOptions, divergenceMask } from './ratio-surrogates.ts';

const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 12));

/** Two rows: log-ratios 0.4 and −0.2 with a masked token between, and a row of one token. */
function inputsOf(tape: Tape) {
  const data = (rows: number[][]) => tape.data(matrixFromRows(rows));
  return {
    logprobs: tape.variable(matrixFromRows([[-1, -3, -2]])),
    proximalLogprobs: data([[-1.4, 0, -1.8]]),
    mask: data([[1, 0, 1]]),
  };
}

describe('mixedRatio', () => {
  it("mixes the sequence's mean with each token, which alone has a gradient", () => {
    const tape = new Tape();
    const inputs = inputsOf(tape);
    const ratio = mixedRatio(tape, inputs, { sequence: 0.5, token: 2 });
    tape.backward(ratio, matrixFromRows([[1, 1, 1]]));
    // Mean of 0.4 and −0.2 is 0.1.
    const expected = [0.4, -3, -0.2].map((delta) => Math.exp(0.5 * 0.1 + 2 * delta));
    expect([...ratio.data]).toEqual(close(expected));
    expect([...tape.gradient(inputs.logprobs).data]).toEqual(close(expected.map((value) => 2 * value)));
  });

  it('of the token alone is the ratio over tokens', () => {
    const tape = new Tape();
    const inputs = inputsOf(tape);
    const tokens = importanceRatio(tape, inputs);
    expect([...mixedRatio(tape, inputs, { sequence: 0, token: 1 }).data]).toEqual([...tokens.data]);
  });

  it('names what it lacks', () => {
    const tape = new Tape();
    const inputs = inputsOf(tape);
    const options = { sequence: 1, token: 1 };
    expect(() => mixedRatio({} as Tape, inputs, options)).toThrow('mixedRatio: ops must be operations');
    for (const field of ['logprobs', 'proximalLogprobs', 'mask']) {
      const lacking = { ...inputs, [field]: undefined };
      expect(() => mixedRatio(tape, lacking, options)).toThrow(`mixedRatio: ${field} must be given`);
    }
    for (const field of ['sequence', 'token']) {
      const lacking = { ...options, [field]: undefined as never };
      expect(() => mixedRatio(tape, inputs, lacking)).toThrow(`mixedRatio: ${field} must be a number`);
    }
  });
});

describe('divergenceMask', () => {
  // From 0.5, the divergence of Bernoulli distributions is 0.0872 to 0.3 and 0.0204 to 0.6.
  const kept = (options: Partial<DivergenceOptions>, advantages: readonly number[]) => {
    const tape = new Tape();
    const data = (row: readonly number[]) => tape.data(matrixFromRows([row]));
    const logprobs = data([0.3, 0.6].map(Math.log));
    const inputs = {
      logprobs,
      proximalLogprobs: data([0.5, 0.5].map(Math.log)),
      advantages: data(advantages),
    };
    const bounds = { divergence: 'kl', divergenceLow: 0.08, divergenceHigh: 0.02 } as const;
    return [...divergenceMask(tape, inputs, { ...bounds, ...options }).data];
  };

  it('drops tokens that moved further than the bounds, and would go on', () => {
    expect(kept({}, [-1, 1])).toEqual([0, 0]);
    expect(kept({ divergenceLow: 0.088, divergenceHigh: 0.021 }, [-1, 1])).toEqual([1, 1]);
    expect(kept({}, [1, -1])).toEqual([1, 1]);
    expect(kept({ dropped: 'both' }, [1, -1])).toEqual([0, 0]);
  });

  it('measures total variation by the probabilities', () => {
    const tv = { divergence: 'total-variation', divergenceLow: 0.19, divergenceHigh: 0.11 } as const;
    expect(kept(tv, [-1, 1])).toEqual([0, 1]);
  });
});
