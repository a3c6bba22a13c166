import { evaluate, matrixFromRows } from '@rlp/tensor';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aggregationModes, aggregationWeights } from './aggregation.ts';
import { policyLoss } from './policy-loss.ts';
import { type PolicyLossOptions, resolvePolicyLoss } from './policy-loss-options.ts';
import { surrogateKinds } from './surrogates.ts';

type Rows = number[][];
interface Batch {
  readonly logprobs: Rows;
  readonly mask: Rows;
  readonly columns: Readonly<Record<string, Rows>>;
}

const names = [
  'advantages',
  'proximalLogprobs',
  'behaviorLogprobs',
  'referenceLogprobs',
  'correctionWeights',
  'keep',
  'selected',
];

/** Everything that a policy loss can read, of two sequences of three tokens. */
const batches: fc.Arbitrary<Batch> = fc
  .record({
    numbers: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 48, maxLength: 48 }),
    mask: fc.array(fc.constantFrom(0, 1), { minLength: 6, maxLength: 6 }),
  })
  .map(({ numbers, mask }) => {
    const at = (block: number, scale: number, shift: number) =>
      fold(numbers.slice(6 * block, 6 * block + 6).map((x) => scale * x + shift));
    const columns = Object.fromEntries(
      names.map((name, index) => [
        name,
        name.endsWith('Logprobs') ? at(index + 1, 0.4, -1) : at(index + 1, 1, 0),
      ]),
    );
    return { logprobs: at(0, 0.4, -1), mask: fold(mask), columns };
  });

function fold(values: readonly number[]): Rows {
  return [values.slice(0, 3), values.slice(3)];
}

function run(options: PolicyLossOptions, { logprobs, mask, columns }: Batch) {
  const loss = policyLoss(options);
  return evaluate(loss, {
    logprobs: matrixFromRows(logprobs),
    mask: matrixFromRows(mask),
    weights: matrixFromRows(aggregationWeights(mask, { mode: 'token-mean' })),
    columns: Object.fromEntries(loss.columns.map((name) => [name, matrixFromRows(columns[name]!)])),
  });
}

/** One of every kind, with everything that can be added to it. */
const variants: readonly (readonly [string, PolicyLossOptions])[] = [
  ...surrogateKinds.map((surrogate) => [surrogate, { surrogate }] as const),
  ['GSPO', { ratio: 'sequence', clipLow: 3e-2, clipHigh: 4e-2 }],
  ['GSPO-token', { ratio: 'sequence-token' }],
  ['RLOO', { ratio: 'sequence-product' }],
  ['dual clip and cap', { dualClip: 1.1, ratioCap: 1.05 }],
  ['truncated sequences', { correction: 'sequence-truncate' }],
  ['geometric rejection', { correction: 'geometric-mask', correctionFloor: 0.8, correctionCap: 1.2 }],
  ['column correction and kept tokens', { correction: 'column', keep: 'column' }],
  ['off-policy sequences', { offPolicyThreshold: 0.05 }],
  [
    'KL to both',
    { klCoefficient: 0.1, klWeight: 'ratio', proximalKlCoefficient: 0.2, proximalKlEstimator: 'k2' },
  ],
  ['straight-through KL', { klCoefficient: 0.1, klEstimator: 'k1', klGradient: 'k2' }],
  ['selected tokens', { proximalKlCoefficient: 1, proximalKlTokens: 'column' }],
];

describe('policyLoss, every surrogate', () => {
  it.each(variants)('%s: tokens that do not count cannot influence anything', (_, options) => {
    const noise = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(batches, noise, (batch, amount) => {
        const disturb = (rows: Rows) =>
          rows.map((row, b) => row.map((value, t) => (batch.mask[b]![t] === 0 ? value + amount : value)));
        const columns = Object.fromEntries(
          Object.entries(batch.columns).map(([name, rows]) => [name, disturb(rows)]),
        );
        const full = { proximal: 'column', ...options } as const;
        const before = run(full, batch);
        const after = run(full, { ...batch, logprobs: disturb(batch.logprobs), columns });
        expect(after.value).toBe(before.value);
        expect(after.metrics).toEqual(before.metrics);
        for (const [index, slope] of before.gradients.logprobs.data.entries()) {
          expect(after.gradients.logprobs.data[index]).toBe(slope);
          if (batch.mask.flat()[index] === 0) expect(Math.abs(slope)).toBe(0);
        }
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['clip', {}],
    ['sapo', { surrogate: 'sapo' }],
    ['gmpo', { surrogate: 'gmpo' }],
    ['GSPO', { ratio: 'sequence' }],
    ['RLOO', { ratio: 'sequence-product' }],
    ['importance-sampling', { surrogate: 'importance-sampling' }],
    ['policy-gradient', { surrogate: 'policy-gradient' }],
    [
      'KL weighed by the ratio',
      { klCoefficient: 0.3, klWeight: 'ratio', proximalKlCoefficient: 0.2, proximalKlEstimator: 'k3' },
    ],
  ] as const)('%s: the gradient equals finite differences', (_, options) => {
    const full: PolicyLossOptions = { proximal: 'column', correction: 'none', ...options };
    const step = 1e-6;
    fc.assert(
      fc.property(batches, fc.nat(5), (batch, index) => {
        const at = (shift: number) => {
          const moved = fold(batch.logprobs.flat().map((value, i) => (i === index ? value + shift : value)));
          return run(full, { ...batch, logprobs: moved });
        };
        const [below, middle, above] = [at(-step), at(0), at(step)];
        // A kink between the two points has no derivative to compare with, however small the step of the slope.
        const slopes = [below, above].map(({ gradients }) => gradients.logprobs.data[index]!);
        fc.pre(Math.abs(slopes[0]! - slopes[1]!) < 5e-6);
        const difference = (above.value - below.value) / (2 * step);
        expect(middle.gradients.logprobs.data[index]).toBeCloseTo(difference, 5);
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    ['cispo', (loss: number, logprob: number) => loss / logprob],
    ['window', (loss: number, logprob: number) => loss / logprob],
    ['vespo', (loss: number, logprob: number) => loss / logprob],
    ['policy-gradient', (loss: number, logprob: number) => loss / logprob],
    ['dppo', (loss: number) => loss],
    ['importance-sampling', (loss: number) => loss],
  ] as const)('%s: its weight or mask is a constant to the gradient', (surrogate, slopeOf) => {
    // −w·A·ln π has slope −w·A by ln π, and −ρ·A·m has slope −ρ·A·m, only where w and m do not move.
    fc.assert(
      fc.property(batches, (batch) => {
        const all = { ...batch, mask: fold([1, 1, 1, 1, 1, 1]) };
        const result = run({ surrogate, proximal: 'column', correction: 'none' }, all);
        for (const [index, slope] of result.gradients.logprobs.data.entries()) {
          const expected = slopeOf(result.tokenLosses.data[index]!, all.logprobs.flat()[index]!) / 6;
          expect(slope).toBeCloseTo(expected, 12);
        }
      }),
      { numRuns: 40 },
    );
  });

  it.each(variants)(
    '%s: finite numbers never become NaN, however far apart the policies are',
    (_, options) => {
      const size = fc.constantFrom(0, 1e-9, 1, 30, 1e3, 1e6);
      const sizes = fc.array(size, { minLength: 48, maxLength: 48 });
      const signs = fc.array(fc.constantFrom(-1, 1), { minLength: 48, maxLength: 48 });
      fc.assert(
        fc.property(batches, sizes, signs, (batch, magnitudes, directions) => {
          const numbers = (block: number, isLogprob: boolean) =>
            fold(
              magnitudes
                .slice(6 * block, 6 * block + 6)
                .map((x, i) => (isLogprob ? -x : x * directions[6 * block + i]!)),
            );
          const columns = Object.fromEntries(
            names.map((name, index) => [name, numbers(index + 1, name.endsWith('Logprobs'))]),
          );
          const far = { ...batch, logprobs: numbers(0, true), columns };
          const { value, gradients, metrics } = run({ proximal: 'column', ...options }, far);
          const results = [value, ...gradients.logprobs.data, ...Object.values(metrics)];
          expect(results.filter((x) => Number.isNaN(x))).toEqual([]);
        }),
        { numRuns: 60 },
      );
    },
  );

  it('gives zeros, never NaN, for a batch without tokens that count', () => {
    for (const [, options] of variants) {
      const rows = [
        [-1, -2, -3],
        [-1, -1, -1],
      ];
      const columns = Object.fromEntries(names.map((name) => [name, rows]));
      const empty = {
        logprobs: rows,
        mask: [
          [0, 0, 0],
          [0, 0, 0],
        ],
        columns,
      };
      const { value, gradients, metrics } = run({ proximal: 'column', ...options }, empty);
      expect(
        [value, ...gradients.logprobs.data, ...Object.values(metrics)].every((x) => Math.abs(x) === 0),
      ).toBe(true);
    }
  });

  it('takes parameters that are undefined for those that were left out', () => {
    const { parameters } = resolvePolicyLoss({});
    expect(parameters).toMatchObject({ clipLow: 0.2 });
    expect(resolvePolicyLoss({ clipLow: undefined, dualClip: undefined }).parameters).toEqual(parameters);
    const sapo = resolvePolicyLoss({ surrogate: 'sapo' });
    expect(resolvePolicyLoss({ surrogate: 'sapo', clipLow: undefined })).toEqual(sapo);
    expect(Object.values(sapo.parameters)).not.toContain(undefined);
  });

  it.each([
    [{ clipHigh: 0 }, 'clipHigh: must be above 0, or tokens of positive advantage stop learning'],
    [{ clipLow: 0, clipHigh: -0.5 }, /clipLow: must be above 0.*negative[\s\S]*clipHigh: must be above 0/],
    [{ surrogate: 'window', clipHigh: 0 }, 'clipHigh: must be above 0'],
    [{ surrogate: 'gmpo', clipLow: 0 }, 'clipLow: must be above 0'],
  ] as const)('refuses the clip bounds %o, at which tokens stop learning', (options, message) => {
    expect(() => policyLoss(options)).toThrow(message);
    expect(() => policyLoss({ ...options, surrogate: 'cispo' })).not.toThrow();
  });

  it('names parameters that the surrogate does not read, and a bound below every ratio', () => {
    expect(() => policyLoss({ surrogate: 'sapo', clipLow: 0.1, dualClip: 3 })).toThrow(
      "clipLow: the surrogate 'sapo' does not read it; its own are: temperaturePositive, temperatureNegative\n" +
        "  - dualClip: the surrogate 'sapo' does not read it",
    );
    expect(() => policyLoss({ surrogate: 'policy-gradient', divergence: 'kl' })).toThrow('its own are: none');
    expect(() => policyLoss({ clipLow: 1.1 })).toThrow('clipLow: must be at most 1');
    expect(() => policyLoss({ surrogate: 'gmpo', clipLow: 2 })).not.toThrow();
  });
});

describe('golden numbers, on paper', () => {
  const ln = Math.log;
  const token = (ratio: number, advantage: number) => ({
    logprobs: [[-1 + ln(ratio)]],
    mask: [[1]],
    columns: { advantages: [[advantage]], proximalLogprobs: [[-1]] },
  });
  const result = (options: PolicyLossOptions, ratio: number, advantage: number) => {
    const full = { proximal: 'column', correction: 'none', ...options } as const;
    const { value, gradients } = run(full, token(ratio, advantage));
    return [value, gradients.logprobs.data[0]!].map((x) => expect.closeTo(x, 10));
  };

  it('CISPO clips the weight and keeps the gradient', () => {
    expect([-1.28 * 2 * (-1 + ln(1.5)), -1.28 * 2]).toEqual(
      result({ surrogate: 'cispo', clipLow: 0.2, clipHigh: 0.28 }, 1.5, 2),
    );
    expect([-0.28 * 2 * (-1 + ln(1.5)), -0.28 * 2]).toEqual(
      result({ surrogate: 'cispo', clipHigh: 0.28 - 1 }, 1.5, 2),
    );
  });

  it('SAPO has slope −A at ratio 1', () => {
    expect([-2 * 3, -3]).toEqual(result({ surrogate: 'sapo' }, 1, 3));
    expect([(4 / 1.05) * 0.5 * 3, 3]).toEqual(result({ surrogate: 'sapo' }, 1, -3));
  });

  it('GMPO clips in log space, on the pessimistic side', () => {
    expect([-Math.exp(0.4), 0]).toEqual(result({ surrogate: 'gmpo' }, Math.exp(0.7), 1));
    expect([Math.exp(0.7), Math.exp(0.7)]).toEqual(result({ surrogate: 'gmpo' }, Math.exp(0.7), -1));
  });

  it('DPPO drops a token that is pushed further out, and only that', () => {
    // The probability rose from 1/e by 0.5/e = 0.18.
    expect([0, 0]).toEqual(result({ surrogate: 'dppo' }, 1.5, 1));
    expect([1.5, 1.5]).toEqual(result({ surrogate: 'dppo' }, 1.5, -1));
    expect([-1.5, -1.5]).toEqual(result({ surrogate: 'dppo', divergenceHigh: 0.2 }, 1.5, 1));
  });

  it('the window drops what lies on or beyond its bounds', () => {
    expect([0, 0]).toEqual(result({ surrogate: 'window', clipHigh: 0.28 }, 1.5, 1));
    expect([1.1 * (1 - ln(1.1)), -1.1]).toEqual(result({ surrogate: 'window' }, 1.1, 1));
  });

  it.each([
    [{ surrogate: 'dppo' }, 1.5, 1, { 'clip/low': 0, 'clip/high': 1 }],
    [{ surrogate: 'dppo' }, 0.5, -1, { 'clip/low': 1, 'clip/high': 0 }],
    [
      { surrogate: 'gmpo', clipLow: 0.4, clipHigh: 0.6 },
      Math.exp(-0.5),
      -1,
      { 'clip/low': 1, 'clip/high': 0 },
    ],
    [{ surrogate: 'gmpo', clipLow: 0.4, clipHigh: 0.6 }, Math.exp(0.5), 1, { 'clip/low': 0, 'clip/high': 0 }],
    [{ surrogate: 'gmpo', clipLow: 0.6, clipHigh: 0.4 }, Math.exp(0.5), 1, { 'clip/low': 0, 'clip/high': 1 }],
    [{ surrogate: 'window' }, 0.5, 1, { 'clip/low': 1, 'clip/high': 0 }],
    [{ surrogate: 'cispo', clipHigh: 0.28 }, 1.5, -1, { 'clip/low': 0, 'clip/high': 1 }],
    [{ surrogate: 'clip', dualClip: 3 }, 2, -1, { 'clip/dual': 0 }],
    [{ surrogate: 'clip', dualClip: 3 }, 4, -1, { 'clip/dual': 1 }],
    [{ surrogate: 'clip', dualClip: 3 }, 4, 1, { 'clip/dual': 0, 'clip/high': 1 }],
  ] as const)(
    'says which bound stops a token: %o at ratio %d, advantage %d',
    (options, ratio, advantage, expected) => {
      const full = { proximal: 'column', correction: 'none', ...options } as const;
      expect(run(full, token(ratio, advantage)).metrics).toMatchObject(expected);
    },
  );

  it('VESPO limits the log-ratio of a token to 20', () => {
    const far = {
      logprobs: [[-1, -21]],
      mask: [[1, 1]],
      columns: { advantages: [[1, 1]], proximalLogprobs: [[-51, -1]] },
    };
    // Log-ratios 50 and −20, of which 20 and −20 are counted, so the weight of the sequence is 1.
    const options = { surrogate: 'vespo', proximal: 'column', correction: 'none' } as const;
    expect(run(options, far).value).toBeCloseTo((1 + 21) / 2, 9);
  });

  it("VESPO's weight is 1 for a policy that has not moved", () => {
    expect([1, -1]).toEqual(result({ surrogate: 'vespo' }, 1, 1));
    const weight = Math.exp(3 + 2 * ln(1.5) - 3 * 1.5);
    expect([weight * (1 - ln(1.5)), -weight]).toEqual(result({ surrogate: 'vespo' }, 1.5, 1));
  });
});

describe('aggregation identities', () => {
  it('a loss that is 1 everywhere averages to 1 over tokens and over sequences', () => {
    const masks = fc.array(fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 5 }), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(masks, (mask) => {
        fc.pre(mask.flat().includes(1));
        for (const mode of ['token-mean', 'sequence-mean-token-mean'] as const) {
          const total = aggregationWeights(mask, { mode }).reduce(
            (sum, row) => row.reduce((a, b) => a + b, sum),
            0,
          );
          expect(total).toBeCloseTo(1, 12);
        }
      }),
    );
  });

  it('all modes agree up to a factor when all sequences have one length', () => {
    const mask = [
      [1, 1],
      [1, 1],
    ];
    for (const mode of aggregationModes) {
      const weights = aggregationWeights(mask, { mode }).map((row) => [...row]);
      expect(new Set(weights.flat()).size).toBe(1);
    }
  });
});
