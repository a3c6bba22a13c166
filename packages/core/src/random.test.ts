import { describe, expect, it, vi } from 'vitest';
import { philox, RandomStream } from './random.ts';

// Known answers of Random123's kat_vectors (philox4x32, 10 rounds).
const knownAnswers = [
  [
    [0, 0, 0, 0],
    [0, 0],
    [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
  ],
  [
    [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    [0xffffffff, 0xffffffff],
    [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
  ],
  [
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    [0xa4093822, 0x299f31d0],
    [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  ],
] as const;

describe('philox', () => {
  it.each(knownAnswers)('gives the published block for counter %j', (counter, key, expected) => {
    expect(philox(counter, key)).toEqual(expected);
  });
});

// From a Python program that shares no code with ours: names as JSON in UTF-8, 0x80, zeros to whole blocks of 16 bytes.
const namedDraws = [
  { name: [7, 'rollout', 'task-1', 0], position: 0, expected: 0.2629759196114245 },
  { name: [7, 'rollout', 'task-1', 0], position: 1, expected: 0.1512345593067631 },
  { name: [7, 'rollout', 'task-1', 0], position: 2 ** 32 + 1, expected: 0.7475582667683839 },
  { name: [], position: 0, expected: 0.32423860609317556 },
  { name: ['abcdefghijk'], position: 0, expected: 0.8735725012712268 },
  { name: ['abcdefghijkl'], position: 0, expected: 0.23332688302027926 },
  { name: ['größe', 1.5, '\n'], position: 3, expected: 0.6036057707069811 },
] as const;

describe('RandomStream', () => {
  it.each(namedDraws)('draws $expected at $position of $name, in every version', (draw) => {
    expect(RandomStream.named(...draw.name).at(draw.position)).toBe(draw.expected);
  });

  it('gives the same numbers for the same name, whatever was drawn elsewhere', () => {
    const first = RandomStream.named(7, 'rollout', 'task-1');
    const other = RandomStream.named(7, 'rollout', 'task-2');
    const interleaved = Array.from({ length: 5 }, () => [first.uniform(), other.uniform()][0]);
    const again = RandomStream.named(7, 'rollout', 'task-1');
    expect(Array.from({ length: 5 }, () => again.uniform())).toEqual(interleaved);
  });

  it('tells names apart by their parts', () => {
    const names = [['a', 1], ['a', '1'], ['a1'], ['a', 1, ''], ['', 'a', 1]] as const;
    const draws = names.map((name) => RandomStream.named(...name).uniform());
    expect(new Set(draws).size).toBe(names.length);
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 33])('draws no integer below %d', (bound) => {
    expect(() => RandomStream.named('bound').integer(bound)).toThrow('an integer from 1 to 2^32');
  });

  it('continues from a saved state', () => {
    const stream = RandomStream.named('checkpoint');
    for (let draw = 0; draw < 3; draw++) stream.normal();
    const restored = new RandomStream(JSON.parse(JSON.stringify(stream.state)));
    expect(restored.uniform()).toBe(stream.uniform());
  });

  it('is uniform: mean, variance and lag-one correlation within four standard errors', () => {
    const stream = RandomStream.named('moments');
    const n = 100_000;
    const draws = Array.from({ length: n }, () => stream.uniform());
    const mean = draws.reduce((sum, x) => sum + x, 0) / n;
    const variance = draws.reduce((sum, x) => sum + (x - mean) ** 2, 0) / n;
    const lag = draws.slice(1).reduce((sum, x, i) => sum + (x - 0.5) * (draws[i]! - 0.5), 0) / (n - 1);
    expect(Math.abs(mean - 0.5)).toBeLessThan(4 * Math.sqrt(1 / 12 / n));
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(4 * Math.sqrt(1 / 180 / n));
    expect(Math.abs(lag)).toBeLessThan((4 * (1 / 12)) / Math.sqrt(n));
  });

  it('has standard normal deviates', () => {
    const stream = RandomStream.named('normal');
    const n = 50_000;
    const draws = Array.from({ length: n }, () => stream.normal());
    const mean = draws.reduce((sum, x) => sum + x, 0) / n;
    const fourth = draws.reduce((sum, x) => sum + x ** 4, 0) / n;
    expect(Math.abs(mean)).toBeLessThan(4 / Math.sqrt(n));
    expect(Math.abs(fourth - 3)).toBeLessThan(4 * Math.sqrt(96 / n));
  });

  it('has a normal deviate even for a uniform draw of 0', () => {
    const stream = RandomStream.named('zero');
    vi.spyOn(stream, 'uniform').mockReturnValue(0);
    expect(stream.normal()).toBeCloseTo(0, 12);
  });

  it('draws integers of 32 bits', () => {
    const stream = RandomStream.named('bits');
    vi.spyOn(stream, 'uniform').mockReturnValue(1 - 2 ** -53);
    expect(stream.integer(2 ** 32)).toBe(2 ** 32 - 1);
  });

  it('draws shares as often as they weigh, and never one of 0', () => {
    const stream = RandomStream.named('shares');
    const drawn = [0, 0, 0, 0, 0];
    for (let draw = 0; draw < 6000; draw++) drawn[stream.weighted([0, 1, 0, 2, 0])]! += 1;
    expect(drawn).toEqual([0, expect.any(Number), 0, 6000 - drawn[1]!, 0]);
    expect(Math.abs(drawn[1]! - 2000)).toBeLessThan(4 * Math.sqrt((6000 * 2) / 9));
    expect(stream.state.position).toBe(6000);
  });

  it('draws the share that holds a point of their sum', () => {
    const stream = RandomStream.named('points');
    const at = (uniform: number, shares: readonly number[]) => {
      vi.spyOn(stream, 'uniform').mockReturnValue(uniform);
      return stream.weighted(shares);
    };
    expect([0, 0.24, 0.25, 0.74, 0.75].map((uniform) => at(uniform, [1, 2, 1]))).toEqual([0, 0, 1, 1, 2]);
    // Only rounding leads behind the last share.
    expect(at(1, [1, 3, 0])).toBe(1);
    expect(() => at(0, [0, 0])).toThrow('expected a share above 0, got 0, 0');
    expect(() => at(0, [])).toThrow('expected a share above 0, got none');
  });

  it('shuffles into each order equally often, within four standard errors', () => {
    const stream = RandomStream.named('orders');
    const n = 6000;
    const counts = new Map<string, number>();
    for (let draw = 0; draw < n; draw++) {
      const order = stream.shuffle(['a', 'b', 'c']).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    for (const count of counts.values())
      expect(Math.abs(count - n / 6)).toBeLessThan(4 * Math.sqrt((n * 5) / 36));
  });

  it('shuffles into a permutation and leaves its argument alone', () => {
    const items = Array.from({ length: 50 }, (_, i) => i);
    const shuffled = RandomStream.named('shuffle').shuffle(items);
    expect(shuffled).not.toEqual(items);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
  });
});
