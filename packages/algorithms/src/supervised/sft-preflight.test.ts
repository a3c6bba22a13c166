import { TabularBackend } from '@rlp/backprop/tabular';
import { ArgumentError, type Tokenizer, type TokenSequence, TrainingError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { runSftTraining } from './sft.ts';
import type { SftOptions } from './sft-options.ts';

const gib = 2 ** 30;

const sequence = (tokens: readonly number[], masked: 'prompt' | 'all' = 'prompt'): TokenSequence => ({
  tokens,
  mask: Uint8Array.from(tokens, (_, at) => (at > 0 && masked === 'prompt' ? 1 : 0)),
  behaviorLogprobs: new Float64Array(tokens.length),
  steps: Int32Array.from(tokens, (_, at) => (at > 0 ? 0 : -1)),
});

/** What a run says before its first update. */
async function notesOf(
  sequences: readonly TokenSequence[],
  {
    backend = {},
    tokenizer,
    options,
  }: { readonly backend?: object; readonly tokenizer?: Tokenizer; readonly options?: SftOptions } = {},
) {
  const notes: string[] = [];
  const run = runSftTraining(
    {
      backend: Object.assign(new TabularBackend({ vocabularySize: 8 }), backend),
      sequences,
      tokenizer,
      logger: {
        log: () => undefined,
        note: (step, note) => void notes.push(`${step}: ${note}`),
        close: async () => undefined,
      },
    },
    options,
  );
  await run.next();
  await run.return();
  return notes;
}

describe('before supervised fine-tuning', () => {
  it.each<[string, readonly TokenSequence[], RegExp]>([
    ['no example', [], /token to imitate \(mask 1\), got none in 0; demonstrationSequences/],
    ['only masks', [sequence([1, 2], 'all')], /got none in 1/],
    [
      'tokens of another model',
      [sequence([1, 2]), sequence([1, 9])],
      /1 of 2 .* sequence 1 has the token 9 at position 1, and the vocabulary of the model has 8; encode/,
    ],
    ['tokens that are no ids', [sequence([1, 2.5])], /the token 2\.5 at position 1/],
    [
      'long examples',
      [sequence([1, 2]), sequence([1, 2, 3, 4, 5]), sequence([1, 2, 3, 4, 5, 6])],
      /2 of 3 sequences are longer than 4 tokens/,
    ],
    [
      'a mask of another length',
      [{ ...sequence([1, 2]), mask: Uint8Array.of(0, 1, 1) }],
      /2 tokens and a mask of 3; give one/,
    ],
  ])('%s is refused, with what to do', async (_, sequences, message) => {
    const refused = notesOf(sequences, { backend: { contextLength: 4 } });
    await expect(refused).rejects.toThrow(ArgumentError);
    await expect(refused).rejects.toThrow(message);
  });

  it('names examples that teach nothing and characters that were lost', async () => {
    const tokenizer: Tokenizer = {
      ...{ vocabularySize: 3, bosId: undefined, eosIds: [] },
      encode: () => [],
      decode: ([token]) => (token === 2 ? '<unk>' : token === 3 ? '\ufffd' : 'a'),
    };
    const notes = await notesOf([sequence([1, 2]), sequence([1, 3]), sequence([1, 1], 'all')], { tokenizer });
    expect(notes).toEqual([
      expect.stringMatching(/^0: 1 of 3 sequences has no token to imitate .* leave them out$/),
      expect.stringMatching(/^0: the tokenizer has 3 tokens and the model 8,/),
      expect.stringMatching(/^0: 1 of 3 sequences has unknown tokens/),
    ]);
  });

  it('takes a tokenizer with half of the tokens of the model for its own', async () => {
    const tokenizer = (vocabularySize: number): Tokenizer => ({
      ...{ vocabularySize, bosId: undefined, eosIds: [] },
      ...{ encode: () => [], decode: () => 'a' },
    });
    expect(await notesOf([sequence([1, 2])], { tokenizer: tokenizer(4) })).toEqual([]);
    expect(await notesOf([sequence([1, 2])], { tokenizer: tokenizer(3) })).toHaveLength(1);
  });

  it('compares the largest update with the memory', async () => {
    const asked: unknown[] = [];
    const backend = (available: number) => ({
      forecastMemory: (batch: readonly TokenSequence[]) => {
        asked.push(batch.map(({ tokens }) => tokens.length));
        return { bytes: { weights: 4 * gib }, held: gib, available: available * gib, remedy: 'lower tokens' };
      },
    });
    const sequences = [sequence([1, 2]), sequence([1, 2, 3])];
    expect(await notesOf(sequences, { backend: backend(9) })).toEqual([]);
    expect(asked).toEqual([[3, 2]]);
    const [note] = await notesOf(sequences, { backend: backend(3) });
    expect(note).toMatch(
      /^0: updates with 2 sequences of up to 3 tokens take about 3\.00 GiB .*; lower tokens$/,
    );
    const refused = notesOf(sequences, { backend: backend(2) });
    await expect(refused).rejects.toThrow(TrainingError);
    await expect(refused).rejects.toThrow(/^runSftTraining: updates with 2 .*; lower tokens$/);
    asked.length = 0;
    const many = [2, 3, 4, 5, 6, 7].map((length) => sequence(new Array<number>(length).fill(1)));
    await notesOf(many, { backend: backend(9), options: { sequencesPerBatch: 3 } });
    expect(asked).toEqual([
      [7, 6, 5],
      [7, 5, 3],
    ]);
  });
});
