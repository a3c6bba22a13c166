import { byteTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { judgedPair, labelledSequence } from './preferences.ts';

const tokenizer = byteTokenizer();
const encoding = { tokenizer, endToken: 'none' } as const;
const byte = (text: string) => tokenizer.encode(text, { specialTokens: 'none' });

describe('labelledSequence', () => {
  it('is the completion after its prompt, with the rating as a label', () => {
    const rated = (rating: boolean) => labelledSequence({ prompt: 'ab', completion: 'c', rating }, encoding);
    const { sequence, label } = rated(true);
    expect(sequence.tokens).toEqual([...tokenizer.encode('ab'), ...byte('c')]);
    expect([...sequence.mask].filter((counts) => counts === 1)).toHaveLength(1);
    expect(sequence.mask.at(-1)).toBe(1);
    expect([label, rated(false).label]).toEqual(['desirable', 'undesirable']);
  });

  it('names an answer without a message, as a pair does', () => {
    const empty = { prompt: 'ab', completion: [], rating: true };
    expect(() => labelledSequence(empty, encoding)).toThrow(
      'labelledSequence: an answer has no message; leave the row out',
    );
    expect(() => judgedPair({ prompt: 'ab', chosen: [], rejected: 'c' }, encoding)).toThrow(
      'judgedPair: an answer has no message; leave the row out',
    );
  });
});

describe('judgedPair', () => {
  it('has two sequences of one prompt, and the margin if there is one', () => {
    const pair = judgedPair({ prompt: 'ab', chosen: 'c', rejected: 'd' }, encoding);
    expect(pair.chosen.tokens.slice(0, -1)).toEqual(pair.rejected.tokens.slice(0, -1));
    expect(pair).not.toHaveProperty('margin');
    expect(judgedPair({ prompt: 'ab', chosen: 'c', rejected: 'd', margin: 0 }, encoding).margin).toBe(0);
  });

  it('refuses equal answers', () => {
    expect(() => judgedPair({ prompt: 'ab', chosen: 'c', rejected: 'c' }, encoding)).toThrow(
      'chosen and rejected are equal',
    );
  });
});
