import { ArgumentError } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Dataset } from './dataset.ts';
import { datasetOf, datasetOfText } from './dataset-of.ts';
import { gathered } from './gathered.fixture.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));
const values = async (dataset: Dataset<{ n: number }>, cursor = 0) =>
  (await gathered(dataset.read({ cursor }))).map(({ row }) => row.n);
const range = (start: number, end: number) =>
  Array.from({ length: Math.max(0, end - start) }, (_, at) => start + at);

describe('Dataset', () => {
  it('continues any pipeline exactly where a cursor stands', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('filter' as const), by: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant('map' as const), by: fc.nat(9) }),
      fc.record({ kind: fc.constant('slice' as const), by: fc.integer({ min: -20, max: 40 }) }),
      fc.record({ kind: fc.constant('shuffle' as const), by: fc.integer({ min: 1, max: 60 }) }),
    );
    const applied = (dataset: Dataset<{ n: number }>, { kind, by }: { kind: string; by: number }) => {
      if (kind === 'filter') return dataset.filter(({ n }) => n % by === 0);
      if (kind === 'map') return dataset.map(({ n }) => ({ n: n + by }));
      return kind === 'slice' ? dataset.slice(by) : dataset.shuffle({ buffer: by, seed: String(by) });
    };
    const pipelines = fc.array(step, { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        pipelines,
        fc.nat(50),
        fc.integer({ min: 0, max: 60 }),
        async (steps, rows, cursor) => {
          const dataset = steps.reduce(applied, datasetOf(numbered(rows)));
          const all = await values(dataset);
          expect(await dataset.count()).toBe(all.length);
          if (cursor <= all.length) expect(await values(dataset, cursor)).toEqual(all.slice(cursor));
          else await expect(values(dataset, cursor)).rejects.toThrow(`expected at least ${cursor} row`);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('slices as lists are sliced', async () => {
    const bound = fc.integer({ min: -12, max: 12 });
    await fc.assert(
      fc.asyncProperty(fc.nat(9), bound, fc.option(bound, { nil: undefined }), async (rows, start, end) => {
        const dataset = datasetOf(numbered(rows)).slice(start, end);
        expect(await values(dataset)).toEqual(range(0, rows).slice(start, end));
      }),
      { numRuns: 200 },
    );
    expect(await values(datasetOf(numbered(3)).slice())).toEqual([0, 1, 2]);
  });

  it('reads no further than its slice', async () => {
    let read = 0;
    const rows = {
      async *[Symbol.asyncIterator]() {
        for (const row of numbered(9)) {
          read += 1;
          yield row;
        }
      },
    };
    expect(await values(datasetOf(rows).slice(1, 3))).toEqual([1, 2]);
    expect(read).toBe(3);
    expect(await values(datasetOf(rows).slice(3, 3))).toEqual([]);
    expect(read).toBe(3);
  });

  it('gives lists of up to 1024 rows, and no empty ones', async () => {
    const lengths = async (dataset: Dataset<object>, cursor = 0) =>
      (await gathered(dataset.batches({ cursor }))).map(({ length }) => length);
    expect(await lengths(datasetOf(numbered(2049)))).toEqual([1024, 1024, 1]);
    expect(await lengths(datasetOf(numbered(2049)), 1025)).toEqual([1024]);
    expect(await lengths(datasetOf(numbered(1030)).filter(({ n }) => n >= 1024))).toEqual([6]);
    expect(await lengths(datasetOf([]))).toEqual([]);
  });

  it('shuffles by its seed: the same order for the same, each row once', async () => {
    const dataset = datasetOf(numbered(5000));
    for (const buffer of [1, 100, 10_000]) {
      const first = await values(dataset.shuffle({ seed: 'a', buffer }));
      expect(await values(dataset.shuffle({ seed: 'a', buffer }))).toEqual(first);
      expect(first.toSorted((a, b) => a - b)).toEqual(range(0, 5000));
      if (buffer > 1) {
        expect(await values(dataset.shuffle({ seed: 'b', buffer }))).not.toEqual(first);
        expect(await values(dataset.shuffle({ seed: 'a', buffer, epoch: 1 }))).not.toEqual(first);
      }
    }
  });

  it('shuffles evenly: each row is as likely in each place', async () => {
    const at = [0, 0, 0, 0];
    for (const seed of range(0, 400)) {
      const order = await values(datasetOf(numbered(4)).shuffle({ seed: String(seed) }));
      at[order.indexOf(0)]! += 1;
    }
    for (const times of at) expect(Math.abs(times - 100)).toBeLessThan(35);
  });

  it('keeps numbers and places through every step', async () => {
    const dataset = datasetOf(numbered(30), { name: 'rows' })
      .filter(({ n }) => n % 2 === 1)
      .slice(2)
      .shuffle();
    for (const { row, number, place } of await gathered(dataset.read())) {
      expect([number, place]).toEqual([row.n + 1, `rows, row ${row.n + 1}`]);
    }
  });

  it('says at which row a function threw', async () => {
    const fails = () => {
      throw new Error('no level');
    };
    const dataset = datasetOf(numbered(3), { name: 'rows' }).slice(1);
    await expect(dataset.filter(fails).toArray()).rejects.toThrow(
      new ArgumentError('rows, row 2: the function of filter threw: no level'),
    );
    await expect(dataset.map(fails).toArray()).rejects.toThrow('rows, row 2: the function of map threw');
  });

  it('reads an iterable anew each time, and hangs no longer than its signal', async () => {
    const rows = {
      async *[Symbol.asyncIterator]() {
        yield* numbered(3);
      },
    };
    const dataset = datasetOf(rows);
    expect([await values(dataset), await values(dataset, 2), await dataset.count()]).toEqual([
      [0, 1, 2],
      [2],
      3,
    ]);
    const hanging = datasetOf({
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
    });
    const signal = AbortSignal.timeout(20);
    await expect(hanging.toArray({ signal })).rejects.toThrow(/timeout|aborted/i);
  });

  it('names columns anew once rows are converted, and keeps their places', async () => {
    const dataset = datasetOf([{ q: 'a' }, { q: 'b' }], { name: 'rows', fields: { prompt: 'q' } });
    const mapped = dataset.map(({ q }) => ({ prompt: `${q}!` }));
    const [first, second] = await gathered(mapped.map((row) => row).read());
    expect(first!.origin).toEqual({ name: 'rows', unit: 'row' });
    expect(second!.origin).toBe(first!.origin);
    expect(second).toMatchObject({ number: 2, at: 2, place: 'rows, row 2', row: { prompt: 'b!' } });
    expect([mapped.name, await mapped.count()]).toEqual(['rows', 2]);
  });

  it('knows the number of its rows without reading them, unless they are filtered', async () => {
    const dataset = new Dataset({ name: 'unread', open: () => expect.unreachable(), count: () => 7 });
    expect(await dataset.count()).toBe(7);
    expect(await dataset.map((row) => row).count()).toBe(7);
    expect(await dataset.shuffle().count()).toBe(7);
    await expect(dataset.filter(() => true).count()).rejects.toThrow();
    const asked = new Dataset({
      name: 'read',
      open: () => datasetOf(numbered(3)).batches(),
      count: () => undefined,
    });
    expect(await asked.count()).toBe(3);
  });

  it.each(['count', 'toArray'] as const)('%s ends with its signal', async (method) => {
    const signal = AbortSignal.abort(new Error('enough'));
    const asked = datasetOf({ async *[Symbol.asyncIterator]() {} });
    await expect(asked[method]({ signal })).rejects.toThrow('enough');
  });

  it('waits until its source is closed, but not once it is aborted', async () => {
    const events: string[] = [];
    const source = (close: () => Promise<void>) => ({
      async *[Symbol.asyncIterator]() {
        try {
          yield* numbered(5);
        } finally {
          await close();
          events.push('closed');
        }
      },
    });
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 5));
    for await (const _ of datasetOf(source(slow))) break;
    events.push('left');
    expect(events).toEqual(['closed', 'left']);
    const failing = datasetOf(source(() => Promise.reject(new Error('cannot close'))));
    await expect(failing.slice(0, 1).toArray()).rejects.toThrow('cannot close');
    const controller = new AbortController();
    const hanging = datasetOf(source(() => new Promise(() => undefined)));
    const reader = hanging.read({ signal: controller.signal });
    await reader.next();
    controller.abort(new Error('enough'));
    await expect(reader.next()).rejects.toThrow('enough');
  });

  it('a reader that was closed, or whose source failed, gives no more', async () => {
    const reader = datasetOf(numbered(3)).read({ cursor: 1 });
    expect([reader.cursor, (await reader.next()).value?.row, reader.cursor]).toEqual([1, { n: 1 }, 2]);
    expect(await reader.return()).toEqual({ done: true, value: undefined });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(reader.cursor).toBe(2);
    const rows = {
      async *[Symbol.asyncIterator]() {
        yield { n: 0 };
        throw new Error('torn');
      },
    };
    const failing = datasetOf(rows).read();
    await failing.next();
    await expect(failing.next()).rejects.toThrow('torn');
    expect(await failing.next()).toEqual({ done: true, value: undefined });
    const plain = datasetOf(numbered(1))[Symbol.asyncIterator]();
    expect([await plain.next(), await plain.next()]).toEqual([
      { done: false, value: { n: 0 } },
      { done: true, value: undefined },
    ]);
    expect(await plain.return!()).toEqual({ done: true, value: undefined });
  });

  it('answers calls that wait together in order, and closes what is left early', async () => {
    let open = 0;
    const rows = {
      async *[Symbol.asyncIterator]() {
        open += 1;
        try {
          yield* numbered(5);
        } finally {
          open -= 1;
        }
      },
    };
    const reader = datasetOf(rows).read();
    const answers = await Promise.all(Array.from({ length: 7 }, () => reader.next()));
    expect(answers.map(({ value }) => value?.row.n)).toEqual([0, 1, 2, 3, 4, undefined, undefined]);
    expect(reader.cursor).toBe(5);
    const iterator = datasetOf(numbered(3000))[Symbol.asyncIterator]();
    const together = await Promise.all(Array.from({ length: 3001 }, () => iterator.next()));
    expect(together.map(({ value }) => value?.n)).toEqual([...range(0, 3000), undefined]);
    for await (const { n } of datasetOf(rows)) if (n === 2) break;
    expect(open).toBe(0);
  });

  it.each([
    [() => datasetOf(numbered(2)).read({ cursor: -1 }), 'cursor'],
    [() => datasetOf(numbered(2)).shuffle({ buffer: 0 }), 'buffer'],
    [() => datasetOf(numbered(2)).shuffle({ sede: 'a' } as never), 'did you mean seed?'],
    [() => datasetOfText('', { format: 'yaml' as never }), 'format'],
  ])('refuses wrong options: %s', (call, message) => {
    expect(call).toThrow(message);
  });

  it.each([
    ['jsonl', '{"n":1}\n\n{"n":2}', 3],
    ['json', ' [{"n":1}, {"n":2}]', 2],
    ['csv', 'n\n1\n2\n', 3],
  ] as const)('reads a text of %s', async (format, text, last) => {
    const entries = await gathered(datasetOfText(text, { format, name: 'x' }).read());
    expect(entries.map(({ row }) => Number(row.n))).toEqual([1, 2]);
    expect(entries[1]!.at).toBe(last);
    const broken = datasetOfText(`${text}\n"`, { format, name: 'x' });
    await expect(broken.toArray()).rejects.toThrow(/^x/);
  });

  it.each([
    ['jsonl', '{"n":1}\n7\n', 'x, line 2: '],
    [
      'json',
      '[{"n":1}, 7]',
      'x, element 2: expected an object with columns, got 7; write one object per element',
    ],
    ['json', '{"n":1}', 'x: expected a JSON list of objects, got another JSON value; write [ … ]'],
    ['json', '[', /^x: expected a JSON list of objects: SyntaxError: /],
    ['csv', 'n,m\n1\n', 'x, line 2: expected 2 fields'],
  ] as const)('names the place in a text of %s', async (format, text, place) => {
    await expect(datasetOfText(text, { format, name: 'x' }).toArray()).rejects.toThrow(place);
  });

  it.each([
    ['jsonl', '{"n":1}\n\n{"n":2}\n{"n":3}', 4],
    ['json', '[{"n":1}, {"n":2}, {"n":3}]', 3],
    ['csv', 'n\n1\n2\n3\n', 4],
  ] as const)('continues a text of %s at a cursor', async (format, text, at) => {
    const entries = await gathered(datasetOfText(text, { format }).read({ cursor: 2 }));
    expect(entries).toMatchObject([{ number: 3, at, origin: { name: 'dataset' } }]);
  });

  it('shows what a row is instead of an object, shortened', async () => {
    const problem = async (row: unknown) =>
      (
        await datasetOf([row as object])
          .toArray()
          .catch((error) => error)
      ).message;
    expect(await problem(undefined)).toBe(
      'dataset, row 1: expected an object with columns, got undefined; write one object per row',
    );
    expect(await problem('x'.repeat(100))).toContain(`got "${'x'.repeat(59)}; write`);
    const texts = {
      async *[Symbol.asyncIterator]() {
        yield { n: 1 };
        yield 'text' as never;
      },
    };
    await expect(datasetOf(texts).toArray()).rejects.toThrow(
      'dataset, row 2: expected an object with columns, got "text"',
    );
  });
});
