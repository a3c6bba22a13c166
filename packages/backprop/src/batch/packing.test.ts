import { ArgumentError, type Loss, RandomStream, type TrainingSequence } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockSlots, type MicroBatch } from './fill.ts';
import { packBatch, packSequences, packStates, unpack } from './packing.ts';

const loss: Loss = {
  key: 'test',
  columns: ['advantages'],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};
const limits = {
  vocabularySize: 10,
  contextLength: 64,
  tokensPerMicroBatch: 64,
  pair: 0.001,
  scores: 0,
  microBatch: 128,
  attention: 'blocks',
} as const;

const sequence: TrainingSequence = {
  tokens: [4, 5, 6],
  mask: [0, 0, 1],
  weights: [9, 9, 0.5],
  columns: { advantages: [Number.NaN, 7, 3] },
};

/** Tokens that each token of a micro-batch sees, by its slots and their ends. */
function historyOf({ slots, ends, places, length, tokens, stem = 0 }: MicroBatch, index: number): number[] {
  const seen = [...tokens.subarray(0, Math.min(stem, index + 1))];
  if (index < stem) return seen;
  const place = places[index - stem]!;
  const [start, column] = [place - (place % length), place % length];
  for (let key = 0; key <= column; key++) {
    if (column < ends[start + key]!) seen.push(tokens[stem + slots[start + key]!]!);
  }
  return seen;
}

/** Batches of sequences that often begin alike. */
const batchesOf = (prefixes: { readonly min: number; readonly max: number }) =>
  fc.array(
    fc
      .tuple(fc.integer(prefixes), fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 30 }))
      .map(([prefix, rest]) => [...Array.from({ length: prefix }, (_, t) => (t * t) % 10), 7, ...rest]),
    { minLength: 1, maxLength: 20 },
  );
const batches = batchesOf({ min: 0, max: 20 });
const oneStem = batchesOf({ min: 20, max: 20 }).map((rows) =>
  rows.map((tokens, row) => tokens.with(20, row % 10)),
);

const branching = { branchedPairs: 2000, microBatch: 0 };
const packings = [
  { name: 'rows', given: batches, costs: {}, prompt: 1, bits: [0, 0, 1], leastBranched: 0 },
  { name: 'branches', given: oneStem, costs: branching, prompt: 20, bits: [1], leastBranched: 10 },
];

describe('blockSlots', () => {
  it('cuts each row into blocks of columns, in order, and finds each token again', () => {
    const tokens = (length: number) => Array.from({ length }, (_, t) => (t * t + length) % 10);
    const long = { ...limits, contextLength: 1000, tokensPerMicroBatch: 4000 };
    const { microBatches } = packSequences([tokens(620), tokens(601), tokens(587), tokens(90)], long, {
      temperature: 1,
    });
    const cut = microBatches.filter(({ blocks }) => blocks > 1);
    expect(cut.length).toBeGreaterThan(0);
    for (const batch of cut) {
      const columns = batch.length / batch.blocks;
      const { shape, slots, places } = blockSlots(batch);
      expect(shape).toEqual([batch.blocks, batch.rows, columns]);
      const expected: number[] = [];
      for (let block = 0; block < batch.blocks; block++) {
        for (let row = 0; row < batch.rows; row++) {
          const start = row * batch.length + block * columns;
          expected.push(...batch.slots.subarray(start, start + columns));
        }
      }
      expect([...slots]).toEqual(expected);
      expect([...places].map((place) => slots[place])).toEqual([...batch.tokens.keys()]);
    }
  });
});

describe('packBatch', () => {
  it('shifts once: a token that is read carries what belongs to the next', () => {
    const longer = { ...sequence, tokens: [4, 5, 6, 7], mask: [0, 1, 1, 0], weights: [9, 0.25, 0.5, 9] };
    const columns = { advantages: [Number.NaN, 7, 3, 1] };
    const batch = { sequences: [{ ...longer, columns }] };
    const { microBatches, temperature } = packBatch(batch, loss, limits);
    expect(microBatches).toEqual([
      {
        tokens: Int32Array.of(4, 5),
        members: Int32Array.of(0, 0),
        positions: Int32Array.of(0, 1),
        places: Int32Array.of(0, 1),
        rows: 1,
        length: 2,
        slots: Int32Array.of(0, 1),
        ends: Int32Array.of(2, 2),
        blocks: 1,
        scored: Int32Array.of(0, 1),
        targets: Int32Array.of(5, 6),
        scorePlaces: Int32Array.of(0, 1),
        loss: {
          rows: 1,
          length: 2,
          cells: Int32Array.of(0, 1),
          places: Int32Array.of(0, 1),
          mask: Float32Array.of(1, 1),
          weights: Float32Array.of(0.25, 0.5),
          columns: { advantages: Float32Array.of(7, 3) },
        },
      },
    ]);
    expect(temperature).toBe(1);
  });

  it.each(packings)('lets each scored token see its own prefix and nothing else, in $name', (packing) => {
    const { given, costs, prompt, leastBranched } = packing;
    const masks = fc.infiniteStream(fc.constantFrom(...packing.bits));
    let branched = 0;
    fc.assert(
      fc.property(given, masks, fc.integer({ min: 1, max: 300 }), (rows, bits, tokensPerMicroBatch) => {
        const sequences = rows.map((tokens): TrainingSequence => {
          const mask = tokens.map((_, t) => (t < prompt ? 0 : bits.next().value!));
          return { tokens, mask, weights: mask.map((_, t) => t), columns: { advantages: tokens } };
        });
        const options = { ...limits, ...costs, tokensPerMicroBatch };
        const { microBatches, scored } = packBatch({ sequences }, loss, options);
        if (microBatches.some(({ stem, rows }) => stem && rows > 1)) branched++;
        const found = new Set<string>();
        for (const [index, micro] of microBatches.entries()) {
          expect(micro.rows * micro.length <= tokensPerMicroBatch || micro.rows === 1).toBe(true);
          expect(new Set(micro.scored).size).toBe(micro.scored.length);
          for (const { member, tokens, indices } of scored[index]!) {
            for (const [i, t] of tokens.entries()) {
              const at = micro.scored[indices[i]!]!;
              found.add(`${member} ${t}`);
              expect(at).toBeGreaterThanOrEqual(micro.stem ?? 0);
              expect(historyOf(micro, at)).toEqual(rows[member]!.slice(0, t));
              expect(micro.positions[at]).toBe(t - 1);
              expect(micro.targets[indices[i]!]).toBe(rows[member]![t]);
              const { loss } = micro;
              const cell = loss!.places[indices[i]!]!;
              const arrays = [loss!.cells, loss!.mask, loss!.weights, loss!.columns.advantages!];
              expect(arrays.map((array) => array[cell])).toEqual([indices[i], 1, t, rows[member]![t]]);
            }
          }
        }
        expect(found.size).toBe(sequences.flatMap(({ mask }) => Array.from(mask)).filter(Boolean).length);
      }),
    );
    expect(branched).toBeGreaterThanOrEqual(leastBranched);
  });

  it('computes a common prompt once, and nothing after the last trained token', () => {
    const prompt = Array.from({ length: 20 }, (_, t) => t % 10);
    const sequences = [1, 2, 3].map((answer): TrainingSequence => {
      const tokens = [...prompt, answer, answer, answer, 0, 0];
      const mask = tokens.map((_, t) => (t >= 20 && t < 23 ? 1 : 0));
      return { tokens, mask, weights: mask, columns: { advantages: mask } };
    });
    const { microBatches } = packBatch({ sequences }, loss, limits);
    // The last token of the prompt predicts another token in each sequence.
    expect(microBatches.map(({ tokens }) => tokens.length)).toEqual([19 + 3 * 3]);
    expect(microBatches[0]!.scored).toHaveLength(9);
  });

  it('shares the trained turn of an earlier row of the same conversation', () => {
    const tokens = [1, 2, 3, 4, 5, 6, 7, 8];
    const row = (length: number, ...trained: number[]): TrainingSequence => {
      const mask = tokens.slice(0, length).map((_, t) => (trained.includes(t) ? 1 : 0));
      return { tokens: tokens.slice(0, length), mask, weights: mask, columns: { advantages: mask } };
    };
    const { microBatches } = packBatch({ sequences: [row(4, 2, 3), row(8, 6, 7)] }, loss, limits);
    expect(microBatches.map(({ tokens }) => tokens.length)).toEqual([7]);
    const both = packBatch({ sequences: [row(4, 2, 3), row(8, 3, 7)] }, loss, limits);
    expect(both.microBatches.map(({ tokens }) => tokens.length)).toEqual([8]);
  });

  it('leaves out sequences of one token and sequences that train nothing', () => {
    const packed = packSequences([[3]], limits, { temperature: 1 });
    expect(packed.microBatches).toEqual([]);
    expect(unpack(packed, [])).toEqual([Float32Array.of(0)]);
    const untrained = { ...sequence, mask: [0, 0, 0] };
    const { microBatches, scored } = packBatch({ sequences: [untrained, sequence] }, loss, limits);
    expect(microBatches[0]!.tokens).toHaveLength(2);
    expect(scored.flat().map(({ member }) => member)).toEqual([1]);
  });

  it('names every problem of a batch in one error', () => {
    const broken: TrainingSequence[] = [
      { ...sequence, mask: [0, 1] },
      { ...sequence, columns: {} },
      { ...sequence, tokens: [4, 10, 6], mask: [1, 0, 0] },
      { ...sequence, temperature: 0 },
      { ...sequence, columns: { advantages: [0, 0, Number.NaN] } },
      { ...sequence, weights: [0, 0, Number.POSITIVE_INFINITY] },
      { ...sequence, mask: [0, 0.5, 1] },
      { tokens: [], mask: [], weights: [], columns: { advantages: [] } },
    ];
    expect(() => packBatch({ sequences: broken }, loss, limits)).toThrow(
      new ArgumentError(
        [
          'forwardBackward: invalid batch',
          '  - all sequences must have one temperature, got 1, 0',
          '  - temperature must be positive and finite, got 0',
          '  - sequences[0].mask has length 2, expected 3 as tokens',
          '  - sequences[1].columns.advantages is missing; the loss "test" reads it',
          '  - sequences[2].tokens[1] is 10, expected an id below 10',
          '  - sequences[2].mask[0] is 1, but nothing predicts the first token',
          '  - sequences[4].columns.advantages[2] is NaN, expected a finite number',
          '  - sequences[5].weights[2] is Infinity, expected a finite number',
          '  - sequences[6].mask[1] is 0.5, expected 0 or 1',
          '  - sequences[7].tokens is empty, expected at least one token',
        ].join('\n'),
      ),
    );
  });

  it('rejects an empty batch and sequences beyond the context', () => {
    expect(() => packBatch({ sequences: [] }, loss, limits)).toThrow('the batch is empty');
    expect(() => packSequences([Array(65).fill(1)], limits, { temperature: 1 })).toThrow(
      "sequences[0] has 65 tokens, the model's context holds 64",
    );
  });
});

describe('packSequences', () => {
  it('has the answers of a group as branches of one stem, although some begin alike', () => {
    const prompt = Array.from({ length: 20 }, (_, t) => t % 10);
    const answers = [
      [1, 2, 3, 4],
      [1, 2, 5],
      [1, 6],
      [7, 8],
    ];
    const rows = answers.map((answer) => [...prompt, ...answer]);
    const masks = rows.map((tokens) => tokens.map((_, t) => (t < prompt.length ? 0 : 1)));
    const options = { ...limits, ...branching, pair: 0.1 };
    const { microBatches } = packSequences(rows, options, { temperature: 1, masks });
    expect(microBatches).toMatchObject([{ stem: 19, rows: 4, length: 4 }]);
  });
});

describe('unpack', () => {
  it('restores the order of scores, shared ones included', () => {
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 300 }), (rows, tokensPerMicroBatch) => {
        const packed = packSequences(rows, { ...limits, tokensPerMicroBatch }, { temperature: 1 });
        const targets = packed.microBatches.map((micro) => Float32Array.from(micro.targets));
        expect(unpack(packed, targets)).toEqual(
          rows.map((tokens) => Float32Array.from([0, ...tokens.slice(1)])),
        );
      }),
    );
  });

  it('gives a state before each token and after the last', () => {
    const packed = packStates([[4, 5, 6], [4]], limits);
    const read = packed.microBatches.map((micro) =>
      Float32Array.from(micro.scored, (at) => micro.tokens[at]!),
    );
    expect(unpack(packed, read)).toEqual([Float32Array.of(0, 4, 5, 6), Float32Array.of(0, 4)]);
  });

  it('refuses masks that do not fit', () => {
    expect(() => packSequences([[1, 2]], limits, { temperature: 1, masks: [[0]] })).toThrow(
      'masks[0] has length 1, expected 2',
    );
    expect(() => packSequences([[1, 2]], limits, { temperature: 1, masks: [] })).toThrow(
      'there are 0 masks, expected 1',
    );
  });
});

it('micro-batches are smaller where the scores of attention would leave the cache', () => {
  const rows = Array.from({ length: 32 }, (_, row) => [
    Math.floor(row / 10),
    row % 10,
    ...new Array(127).fill(5),
  ]);
  const options = { ...limits, contextLength: 129, tokensPerMicroBatch: 4096, microBatch: 64, pair: 0.007 };
  const cut = (scores: number) =>
    packSequences(rows, { ...options, scores }, { temperature: 1 }).microBatches.map((batch) => batch.rows);
  expect(cut(0)).toEqual([32]);
  expect(cut(8)).toEqual([8, 8, 8, 8]);
});

describe('the layout of sequences with log-normal lengths', () => {
  const random = RandomStream.named('log-normal lengths');
  const lengths = (count: number, median: number) =>
    Array.from({ length: count }, () =>
      Math.min(2048, Math.max(2, Math.round(median * Math.exp(random.normal())))),
    );

  it.each([
    [16, 150],
    [64, 150],
    [16, 30],
    [64, 30],
  ])(
    'computes no padding, and few pairs that attention does not need: %i sequences, median %i',
    (count, median) => {
      const rows = lengths(count, median).map((length) => Array.from({ length }, () => random.integer(10)));
      const options = { ...limits, contextLength: 2048, tokensPerMicroBatch: 4096, pair: 0.0015 };
      const { microBatches } = packSequences(rows, options, { temperature: 1 });
      const sum = (numbers: readonly number[]) => numbers.reduce((total, x) => total + x, 0);
      const needed = sum(rows.map(({ length }) => length - 1));
      expect(sum(microBatches.map(({ tokens }) => tokens.length))).toBeLessThanOrEqual(needed);
      const pairs = sum(microBatches.map(({ rows, length }) => rows * length * length));
      expect(pairs / sum(rows.map(({ length }) => (length - 1) ** 2))).toBeLessThan(2);
    },
  );
});
