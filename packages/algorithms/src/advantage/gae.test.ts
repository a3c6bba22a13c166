import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bilevelGae } from './bilevel-gae.ts';
import { discountedReturns } from './discounted-returns.ts';
import { type GaeOptions, gae } from './gae.ts';
import { groupRelativeAdvantages } from './group-relative.ts';

const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 9));
const number = fc.integer({ min: -50, max: 50 }).map((tenths) => tenths / 10);
const unit = fc.integer({ min: 0, max: 20 }).map((twentieths) => twentieths / 20);

/** A row of rewards and values with a mask. */
const row = fc
  .array(fc.tuple(number, number, fc.constantFrom(0, 1)), { minLength: 1, maxLength: 10 })
  .map((tokens) => ({
    rewards: tokens.map(([reward]) => reward),
    values: tokens.map(([, value]) => value),
    mask: tokens.map(([, , counts]) => counts),
  }));

describe('gae', () => {
  // The explicit sums A_t = Σ_k (γλ)^k δ_{t+k} in exact rationals: no code and no recursion shared.
  it('equals the explicit sum', () => {
    const { advantages, returns } = gae(
      { rewards: [[0, 0, 1]], values: [[0.5, 0.25, 0.75]] },
      { discount: 0.9, lambda: 0.8 },
    );
    expect([...advantages[0]!]).toEqual(close([0.1606, 0.605, 0.25]));
    expect([...returns[0]!]).toEqual(close([0.6606, 0.855, 1]));
  });

  it('ends at terminated, bootstraps at truncated steps and at an open end', () => {
    const { advantages } = gae(
      {
        rewards: [[1, -0.5, 2, 0, 0.25]],
        values: [[0.2, 0.1, -0.3, 0.5, 1]],
        ends: [[0, 1, 0, 1, 0]],
        bootstrapValues: [[9, 0, 9, 0.5, 9]],
        finalValues: [2],
      },
      { discount: 0.9, lambda: 0.8 },
    );
    expect([...advantages[0]!]).toEqual(close([0.458, -0.6, 2.714, -0.05, 1.05]));
  });

  // First return of the same row in each project, from their own code.
  it.each([
    ['verl', 'skip', 0.61859570976],
    ['SkyRL', 'through', 0.44197667929958],
    ['OpenRLHF', 'zero', 0.37809087769958],
  ] as const)('reads gaps as %s', (_, maskedTokens, expected) => {
    const { returns } = gae(
      {
        rewards: [[0, 0, 0, 0, 0, 1]],
        values: [[-2.27953, 0.66227, -0.22961, 1.00355, 0.67307, 0.41698]],
        masks: [[1, 1, 0, 0, 1, 1]],
      },
      { discount: 0.9, lambda: 0.8, maskedTokens },
    );
    expect(returns[0]![0]).toBeCloseTo(expected, 9);
  });

  it('takes a gap for the last step of an episode if told to, as an end there would be', () => {
    const options = { discount: 0.9, lambda: 0.8 };
    const [rewards, values] = [[[1, 2, 9, 3]], [[0.5, 0.25, 9, 0.75]]];
    const masked = gae({ rewards, values, masks: [[1, 1, 0, 1]] }, { ...options, maskedTokens: 'end' });
    const ended = gae({ rewards, values, ends: [[0, 0, 1, 0]] }, options);
    const trained = (row: ArrayLike<number>) => [0, 1, 3].map((t) => row[t]!);
    expect(trained(masked.returns[0]!)).toEqual(close(trained(ended.returns[0]!)));
    expect(trained(masked.returns[0]!)[2]).toBe(3);
  });

  it('with λ = 1 is the return less the value, with λ = 0 the one-step error', () => {
    fc.assert(
      fc.property(row, unit, ({ rewards, values }, discount) => {
        const monteCarlo = gae({ rewards: [rewards], values: [values] }, { discount, lambda: 1 });
        const [returns] = discountedReturns({ rewards: [rewards] }, { discount });
        expect([...monteCarlo.advantages[0]!]).toEqual(
          Array.from(returns!, (value, t) => expect.closeTo(value - values[t]!, 8)),
        );
        const oneStep = gae({ rewards: [rewards], values: [values] }, { discount, lambda: 0 });
        expect([...oneStep.advantages[0]!]).toEqual(
          rewards.map((reward, t) =>
            expect.closeTo(reward + discount * (values[t + 1] ?? 0) - values[t]!, 8),
          ),
        );
      }),
    );
  });

  it('by default equals GAE of the rows without their masked tokens, which cannot influence it', () => {
    fc.assert(
      fc.property(row, unit, unit, number, ({ rewards, values, mask }, discount, lambda, noise) => {
        const options: GaeOptions = { discount, lambda };
        const kept = <T>(list: ArrayLike<T>) => Array.from(list).filter((_, t) => mask[t] === 1);
        const noisy = (list: readonly number[]) => list.map((x, t) => (mask[t] === 1 ? x : x + noise));
        const inputs = { rewards: [noisy(rewards)], values: [noisy(values)], masks: [mask] };
        const compact = gae({ rewards: [kept(rewards)], values: [kept(values)] }, options);
        const result = gae(inputs, options);
        expect(kept(result.advantages[0]!)).toEqual([...compact.advantages[0]!]);
        expect(kept(result.returns[0]!)).toEqual([...compact.returns[0]!]);
        expect(mask.every((counts, t) => counts === 1 || result.advantages[0]![t] === 0)).toBe(true);
      }),
    );
  });

  it('is linear in rewards and values, and never NaN', () => {
    fc.assert(
      fc.property(
        row,
        unit,
        unit,
        fc.constantFrom('skip', 'zero', 'through', 'end'),
        (r, discount, lambda, maskedTokens) => {
          const options = { discount, lambda, maskedTokens } as const;
          const once = gae({ rewards: [r.rewards], values: [r.values], masks: [r.mask] }, options);
          const double = (list: number[]) => list.map((x) => 2 * x);
          const twice = gae(
            { rewards: [double(r.rewards)], values: [double(r.values)], masks: [r.mask] },
            options,
          );
          expect([...twice.advantages[0]!]).toEqual(double([...once.advantages[0]!]));
          expect(once.advantages[0]!.every(Number.isFinite)).toBe(true);
        },
      ),
    );
  });

  it('names what does not fit', () => {
    expect(() => gae({ rewards: [[1, 2]], values: [[1]] })).toThrow(/gae: values\[0\] must have 2 tokens/);
    expect(() => gae({ rewards: [[1]], values: [[1]], finalValues: [] })).toThrow(/finalValues must have 1/);
    expect(() => gae({ rewards: [[Number.NaN]], values: [[1]] })).toThrow(/rewards\[0\]\[0\].*got NaN/);
    expect(() => gae({ rewards: [], values: [] }, { discount: 2 })).toThrow(/discount/);
    expect(gae({ rewards: [], values: [] })).toEqual({ advantages: [], returns: [] });
  });
});

describe('bilevelGae', () => {
  it('carries credit over turns first, then over the tokens of each', () => {
    // By hand, in exact rationals: A₃ = 2 − 0.4, A₁ = 1 + 0.8·0.4 − 0.2 + 0.4·A₃; then each turn with γ = 0.9.
    const { advantages } = bilevelGae(
      {
        rewards: [[0, 1, 0, 2]],
        values: [[0.1, 0.2, 0.3, 0.4]],
        masks: [[1, 1, 1, 1]],
        turnEnds: [[0, 1, 0, 1]],
      },
      { discount: 0.9, turnDiscount: 0.8, lambda: 0.5 },
    );
    expect([...advantages[0]!]).toEqual(close([0.872, 1.76, 0.78, 1.6]));
  });

  it('gives a masked token that ends a turn the credit of the turn', () => {
    const { advantages, returns } = bilevelGae({
      rewards: [[0, 1]],
      values: [[0.5, 0.25]],
      masks: [[1, 0]],
      turnEnds: [[0, 1]],
    });
    expect([advantages[0]![1], returns[0]![1]]).toEqual([0.75, 1]);
  });

  it('is not influenced by masked tokens that end no turn', () => {
    fc.assert(
      fc.property(row, number, ({ rewards, values, mask }, noise) => {
        const turnEnds = mask.map((counts, t) => (counts === 1 && t % 3 === 0 ? 1 : 0));
        const run = (shift: number) => {
          const noisy = (list: readonly number[]) => list.map((x, t) => (mask[t] === 1 ? x : x + shift));
          const inputs = { rewards: [noisy(rewards)], values: [noisy(values)], masks: [mask] };
          return [...bilevelGae({ ...inputs, turnEnds: [turnEnds] }).advantages[0]!];
        };
        expect(run(noise)).toEqual(run(0));
      }),
    );
  });

  it('of one turn is GAE', () => {
    fc.assert(
      fc.property(row, unit, unit, ({ rewards, values }, discount, lambda) => {
        const last = rewards.map((_, t) => (t === rewards.length - 1 ? 1 : 0));
        const outcome = rewards.map((reward, t) => reward * last[t]!);
        const masks = [rewards.map(() => 1)];
        const inputs = { rewards: [outcome], values: [values], masks };
        const result = bilevelGae({ ...inputs, turnEnds: [last] }, { discount, lambda });
        const plain = gae(inputs, { discount, lambda });
        expect([...result.advantages[0]!]).toEqual(close([...plain.advantages[0]!]));
      }),
    );
  });
});

describe('discountedReturns', () => {
  const rewards = [[1, 10, 2, 4]];
  const masks = [[1, 0, 1, 1]];

  it.each([
    ['skip', [3, 0, 4, 4]],
    ['zero', [2, 0, 4, 4]],
    ['through', [7, 0, 4, 4]],
    ['reset', [1, 0, 4, 4]],
  ] as const)('reads gaps by %s', (maskedTokens, expected) => {
    const [returns] = discountedReturns({ rewards, masks }, { discount: 0.5, maskedTokens });
    expect([...returns!]).toEqual(expected);
  });

  it('shows what passed through masked tokens where asked to', () => {
    const [returns] = discountedReturns(
      { rewards, masks },
      { discount: 0.5, maskedTokens: 'reset', outside: 'recursion' },
    );
    expect([...returns!]).toEqual([1, 12, 4, 4]);
  });

  it('without discount begin with the sum of the rewards', () => {
    const [returns] = discountedReturns({ rewards });
    expect([...returns!]).toEqual([17, 16, 6, 4]);
  });
});

it('refuses the numbers of one sequence that are not in a list of sequences', () => {
  const flat = [0, 1] as never;
  const problem =
    'rewards[0] must be a list of numbers, got 0; a single list of numbers goes into another list';
  expect(() => gae({ rewards: flat, values: flat })).toThrow(`gae: ${problem}`);
  expect(() => discountedReturns({ rewards: flat })).toThrow(problem);
  expect(() => groupRelativeAdvantages([1, 0] as never)).toThrow(
    'groupRelativeAdvantages: groups[0] must be a list of numbers, got 1',
  );
});
