import { TabularBackend } from '@rlp/backprop/tabular';
import { describe, expect, it } from 'vitest';
import { letterTokenizer as tokenizer } from '../loop/bandit.fixture.ts';
import { examplesWithin, pairsWithin } from './judged-within.ts';
import { judgedPair } from './preferences.ts';
import { runPreferenceTraining } from './run-preference.ts';

const pair = (prompt: string, chosen: string, rejected: string) =>
  judgedPair({ prompt, chosen, rejected }, { tokenizer, endToken: 'none' });
const pairs = [
  pair('ab', 'cc', 'd'),
  pair('abab', 'ccdd', 'd'),
  pair('abcdef', 'a', 'b'),
  pair('a', 'bbbbbb', 'bbbbb'),
];
const context = { owner: 'test', contextLength: 12 };

describe('pairsWithin', () => {
  it('drops, truncates or refuses pairs of which a side is too long', () => {
    const dropped = pairsWithin(pairs, { tokens: 5 }, context);
    expect(dropped.items).toEqual([pairs[0]]);
    expect(dropped.note).toBe('3 of 4 pairs are longer than 5 tokens (the longest has 8); they are dropped');
    const cut = pairsWithin(pairs, { tokens: 5, longer: 'truncate' }, context);
    expect(cut.items.map(({ chosen, rejected }) => [chosen.tokens.length, rejected.tokens.length])).toEqual([
      [4, 3],
      [5, 5],
    ]);
    expect(cut.note).toContain('truncated, and 2 of them dropped because nothing to compare is left');
    expect(() => pairsWithin(pairs, { tokens: 5, longer: 'error' }, context)).toThrow(
      "test: 3 of 4 pairs are longer than 5 tokens (the longest has 8); shorten them, or pass maxLength: { tokens: 5, longer: 'drop' or 'truncate' }",
    );
    expect(() => pairsWithin(pairs, { tokens: 13 }, context)).toThrow("the model's context holds 12");
    expect(pairsWithin(pairs, undefined, context)).toEqual({ items: pairs });
  });

  it('treats single sequences alike', () => {
    const examples = pairs.map(({ chosen }) => ({ sequence: chosen, label: 'desirable' as const }));
    expect(examplesWithin(examples, { tokens: 4 }, context).items).toHaveLength(1);
    const cut = examplesWithin(examples, { tokens: 5, longer: 'truncate' }, context);
    expect(cut.items).toEqual([
      examples[0],
      {
        label: 'desirable',
        sequence: expect.objectContaining({ tokens: pairs[1]!.chosen.tokens.slice(0, 5) }),
      },
      {
        label: 'desirable',
        sequence: expect.objectContaining({ tokens: pairs[3]!.chosen.tokens.slice(0, 5) }),
      },
    ]);
    expect(cut.items[1]!.sequence.mask).toHaveLength(5);
    expect(cut.note).toContain('1 of them dropped');
  });

  it('is an option of runPreferenceTraining, with a note before the first update', async () => {
    const notes: string[] = [];
    const logger = {
      log() {},
      note: (_: number, text: string) => void notes.push(text),
      close: async () => {},
    };
    const backend = new TabularBackend({ vocabularySize: 8, contextTokens: 1 });
    const reports = [];
    for await (const report of runPreferenceTraining(
      { backend, pairs, logger: logger as never },
      { maxLength: { tokens: 5 }, pairsPerBatch: 1, loss: 'simpo' },
    ))
      reports.push(report);
    expect(reports).toHaveLength(1);
    expect(notes).toEqual([expect.stringContaining('3 of 4 pairs')]);
  });
});
