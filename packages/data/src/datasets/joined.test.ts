import fc from 'fast-check';
import { expect, it } from 'vitest';
import { datasetOf } from './dataset-of.ts';
import { gathered } from './gathered.fixture.ts';
import { joined } from './joined.ts';

const part = (count: number, at: number) =>
  datasetOf(
    Array.from({ length: count }, (_, n) => ({ n: `${at}/${n}` })),
    { name: `part ${at}` },
  );

it('parts follow each other, with numbers that go on, from any cursor', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(4), { minLength: 2, maxLength: 4 }),
      fc.nat(16),
      async (counts, cursor) => {
        const parts = counts.map(part);
        const dataset = joined('all', parts);
        const all = (await Promise.all(parts.map((each) => each.toArray()))).flat();
        expect([dataset.name, await dataset.count()]).toEqual(['all', all.length]);
        if (cursor > all.length) return;
        const entries = await gathered(dataset.read({ cursor }));
        expect(entries.map(({ row }) => row)).toEqual(all.slice(cursor));
        expect(entries.map(({ number }) => number)).toEqual(all.map((_, at) => at + 1).slice(cursor));
        for (const { place, row } of entries) {
          const [at, n] = row.n.split('/');
          expect(place).toBe(`part ${at}, row ${Number(n) + 1}`);
        }
      },
    ),
    { numRuns: 40 },
  );
});

it('parts before the cursor are not read, and those behind it not counted', async () => {
  const asked: string[] = [];
  const watched = (at: number) =>
    Object.assign(part(2, at), {
      count: async () => {
        asked.push(`count ${at}`);
        return 2;
      },
    });
  const rows = await gathered(joined('all', [0, 1, 2].map(watched)).read({ cursor: 2 }));
  expect(rows).toHaveLength(4);
  expect(asked).toEqual(['count 0']);
});

it('one part is itself', () => {
  const only = part(2, 0);
  expect(joined('all', [only])).toBe(only);
});
