import { RandomStream } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { datasetOf } from './dataset-of.ts';
import { gathered } from './gathered.fixture.ts';
import { mixture } from './mixture.ts';
import { tasksFrom } from './tasks-from.ts';

const rows = (name: string, count: number) =>
  datasetOf(
    Array.from({ length: count }, (_, at) => ({ prompt: `${name}${at}` })),
    { name },
  );
const prompts = async (dataset: ReturnType<typeof rows>) =>
  (await dataset.toArray()).map(({ prompt }) => prompt);

describe('mixture', () => {
  it('gives each part as many rows as it says, spread evenly, in the order of the part', async () => {
    const mixed = mixture([
      { dataset: rows('a', 100), repeat: 2 },
      { dataset: rows('b', 900), size: 300 },
      { dataset: rows('c', 40), size: 100 },
    ]);
    const order = await prompts(mixed);
    expect([order.length, await mixed.count()]).toEqual([600, 600]);
    const of = (name: string) => order.filter((prompt) => prompt.startsWith(name));
    expect(of('a')).toEqual([...(await prompts(rows('a', 100))), ...(await prompts(rows('a', 100)))]);
    expect(of('b')).toEqual(await prompts(rows('b', 300)));
    expect(of('c').slice(80)).toEqual(await prompts(rows('c', 20)));
    const firstHalf = order.slice(0, 300).filter((prompt) => prompt.startsWith('b')).length;
    expect(Math.abs(firstHalf - 150)).toBeLessThan(40);
  });

  it('draws from the stream of its seed', async () => {
    for (const seed of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const random = RandomStream.named(seed, 'mixture');
      // One row each: the first comes first if the draw falls into its half.
      const expected = random.uniform() * 2 < 1 ? ['a0', 'b0'] : ['b0', 'a0'];
      const parts = ['a', 'b'].map((name) => ({ dataset: rows(name, 1), size: 1 }));
      expect(await prompts(mixture(parts, { seed }))).toEqual(expected);
      const weighted = mixture(
        ['a', 'b'].map((name) => ({ dataset: rows(name, 1), weight: 1 })),
        { seed, until: 'all' },
      );
      expect((await prompts(weighted))[0]).toBe(expected[0]);
    }
  });

  it('draws parts by weight, until the first or all have ended', async () => {
    const parts = [
      { dataset: rows('a', 300), weight: 3 },
      { dataset: rows('b', 400), weight: 1 },
    ];
    const first = await prompts(mixture(parts));
    const share = first.filter((prompt) => prompt.startsWith('a')).length / first.length;
    expect(share).toBeGreaterThan(0.65);
    expect(share).toBeLessThan(0.85);
    expect(new Set(first).size).toBe(first.length);
    const all = await prompts(mixture(parts, { until: 'all' }));
    expect(new Set(all).size).toBe(700);
    expect(all.slice(0, first.length)).toEqual(first);
  });

  it('has an order by its seed, and continues at any cursor', async () => {
    const part = fc.record({ count: fc.integer({ min: 1, max: 9 }), much: fc.integer({ min: 1, max: 3 }) });
    const kinds = fc.constantFrom('weight', 'size', 'repeat');
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 3 }),
        kinds,
        fc.nat(20),
        async (parts, kind, cursor) => {
          const mixed = mixture(
            parts.map(({ count, much }) => ({ dataset: rows('x', count), [kind]: much })),
            { seed: 's', until: 'all' },
          );
          const all = await gathered(mixed.read());
          const ids = all.map((entry) => entry.idFrom(undefined));
          expect(new Set(ids).size).toBe(ids.length);
          if (cursor > all.length) return;
          expect((await gathered(mixed.read({ cursor }))).map((entry) => entry.idFrom(undefined))).toEqual(
            ids.slice(cursor),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  it('tells parts of one name apart, and rounds a share of a part to whole rows', async () => {
    const parts = [
      { dataset: rows('a', 5), repeat: 0.5 },
      { dataset: rows('a', 3), repeat: 1.5 },
      { dataset: rows('b', 1) },
    ];
    const mixed = mixture(parts);
    expect(mixed.name).toBe('mixture of a#1, a#2, b');
    const ids = (await gathered(mixed.read())).map((entry) => entry.idFrom(undefined)).toSorted();
    expect(ids).toEqual(['a#1:1', 'a#1:2', 'a#1:3', 'a#2:1', 'a#2:1~2', 'a#2:2', 'a#2:2~2', 'a#2:3', 'b:1']);
    expect(await mixed.count()).toBe(9);
  });

  it('has more rows than a list holds, from any cursor', async () => {
    const mixed = mixture([{ dataset: rows('a', 600) }, { dataset: rows('b', 100) }]);
    const batches = await gathered(mixed.batches());
    expect(batches.map(({ length }) => length)).toEqual([256, 256, 188]);
    const rest = await gathered(mixed.batches({ cursor: 100 }));
    expect(rest.flat().map(({ row }) => row)).toEqual((await mixed.toArray()).slice(100));
  });

  it('ends at once with a part that has ended, and closes what it read', async () => {
    const events: string[] = [];
    const part = (name: string, count: number) =>
      datasetOf(
        {
          async *[Symbol.asyncIterator]() {
            try {
              for (let at = 0; at < count; at++) yield { prompt: `${name}${at}` };
            } finally {
              events.push(name);
            }
          },
        },
        { name },
      );
    const parts = [
      { dataset: part('a', 2), weight: 1 },
      { dataset: part('b', 50), weight: 1 },
    ];
    const order = await prompts(mixture(parts));
    expect(order.filter((prompt) => String(prompt).startsWith('a'))).toEqual(['a0', 'a1']);
    expect(events).toEqual(['a', 'b']);
    expect(order.length).toBeLessThan(20);
  });

  it('names tasks by their part and their round', async () => {
    const own = datasetOf([{ id: 'x', prompt: 'p' }], { name: 'own' });
    const inner = mixture([{ dataset: rows('a', 1), repeat: 2 }]);
    const tasks = await tasksFrom(
      mixture([
        { dataset: own, repeat: 2 },
        { dataset: inner, name: 'in' },
      ]),
    );
    expect(tasks.map(({ id }) => id).sort()).toEqual(['in:a:1', 'in:a~2:1', 'own:x', 'own:x~2']);
  });

  it.each([
    [() => mixture([]), 'expected at least one part'],
    [() => mixture([{ dataset: rows('a', 1), weight: 1, size: 2 }]), 'got several kinds together'],
    [
      () => mixture([{ dataset: rows('a', 1), weight: 1 }, { dataset: rows('b', 1) }]),
      'a weight for all parts',
    ],
    [() => mixture([{ dataset: rows('a', 1), weight: 1, repeat: 2 }]), 'got several kinds together'],
    [() => mixture([{ dataset: rows('a', 1), size: 1, repeat: 2 }]), 'got several kinds together'],
    [() => mixture([{ dataset: rows('a', 1), weihgt: 1 } as never]), 'weihgt'],
    [() => mixture([{ dataset: [] as never }]), 'must be a Dataset'],
  ])('refuses %s', (call, message) => {
    expect(call).toThrow(message);
  });

  it('says which part has no rows', async () => {
    const parts = [
      { dataset: rows('a', 3), size: 3 },
      { dataset: rows('b', 0), size: 2 },
    ];
    const problem =
      'mixture of a, b: expected rows in b, got none; look at the file, the split and the slice, or leave the part out';
    await expect(mixture(parts).toArray()).rejects.toThrow(problem);
    const weighted = parts.map(({ dataset }) => ({ dataset, weight: 1 }));
    await expect(mixture(weighted, { until: 'all' }).toArray()).rejects.toThrow(
      'expected rows in b, got none',
    );
    await expect(mixture(weighted).slice(0, 0).toArray()).resolves.toEqual([]);
  });
});
