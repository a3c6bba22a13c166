import { TabularBackend } from '@rlp/backprop/tabular';
import type { TrainingBatch } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { letterTokenizer as tokenizer } from '../loop/bandit.fixture.ts';
import { demonstrationSequences } from '../sequence/demonstration.ts';
import type { MaxLength } from './max-length.ts';
import { runSftTraining } from './sft.ts';

/** Lengths 3, 7 and 8 with the end token. The last one trains nothing within 6 tokens. */
const sequences = [
  { prompt: 'a', completion: 'b' },
  { prompt: 'ab', completion: 'cdef' },
  { prompt: 'abcdef', completion: 'g' },
].flatMap((shown) => demonstrationSequences(shown, { tokenizer }));

async function run(maxLength: MaxLength | undefined, contextLength?: number) {
  const notes: string[] = [];
  const lengths: number[] = [];
  const backend = new TabularBackend({ vocabularySize: 8, contextTokens: 1, learningRate: 0.3 });
  const forwardBackward = backend.forwardBackward.bind(backend);
  const watched = Object.assign(backend, {
    contextLength,
    forwardBackward: (batch: TrainingBatch, loss: never) => {
      lengths.push(...batch.sequences.map(({ tokens }) => tokens.length));
      return forwardBackward(batch, loss);
    },
  });
  const logger = {
    log: () => undefined,
    note: (_: number, text: string) => notes.push(text),
    close: async () => undefined,
  };
  const options = maxLength === undefined ? {} : { maxLength };
  for await (const _ of runSftTraining({ backend: watched, sequences, logger }, options));
  return { notes, lengths: lengths.toSorted((a, b) => a - b) };
}

describe('maxLength', () => {
  it('drops longer sequences before the first update, and counts them', async () => {
    expect(await run({ tokens: 6 })).toEqual({
      lengths: [3],
      notes: ['2 of 3 sequences are longer than 6 tokens (the longest has 8); they are dropped'],
    });
  });

  it('truncates them, and drops those that have no trained token left', async () => {
    expect(await run({ tokens: 6, longer: 'truncate' })).toEqual({
      lengths: [3, 6],
      notes: [
        '2 of 3 sequences are longer than 6 tokens (the longest has 8); they are truncated, and 1 of them dropped because no trained token is left',
      ],
    });
    expect((await run({ tokens: 7, longer: 'truncate' })).lengths).toEqual([3, 7, 7]);
  });

  it('says nothing if all fit', async () => {
    expect(await run({ tokens: 8 })).toEqual({ lengths: [3, 7, 8], notes: [] });
    expect(await run(undefined)).toEqual({ lengths: [3, 7, 8], notes: [] });
  });

  it("refuses longer ones if it is told to, or if the model's context does not hold them", async () => {
    await expect(run({ tokens: 7, longer: 'error' })).rejects.toThrow(
      "runSftTraining: 1 of 3 sequences is longer than 7 tokens (the longest has 8); shorten them, or pass maxLength: { tokens: 7, longer: 'drop' or 'truncate' }",
    );
    await expect(run(undefined, 7)).rejects.toThrow('1 of 3 sequences is longer than 7 tokens');
    await expect(run({ tokens: 9 }, 7)).rejects.toThrow(
      "maxLength.tokens is 9, but the model's context holds 7",
    );
    await expect(run({ tokens: 2 })).rejects.toThrow(
      /got none in 0 \(3 of 3 sequences are longer than 2 tokens/,
    );
  });
});
