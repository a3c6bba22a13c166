import { describe, expect, it } from 'vitest';
import { textTokenizer } from './text-tokenizer.ts';

const base = { added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
const bpe = { type: 'BPE', vocab: { a: 0, b: 1, c: 2 }, merges: [] };
const unigram = {
  type: 'Unigram',
  vocab: [
    ['<unk>', 0],
    ['a', -1],
  ],
};
const make = (parts: object) =>
  textTokenizer({ tokenizer: { ...base, model: bpe, ...parts }, config: {} }, 'x');
const split = (Regex: string) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false });

describe('a tokenizer file with an expression that backtracks', () => {
  it.each([
    ['pre_tokenizer', split('(a+)+$')],
    ['pre_tokenizer', { type: 'Sequence', pretokenizers: [split('a'), split('(?:a|a)*b')] }],
    ['normalizer', { type: 'Replace', pattern: { Regex: '(a*)*b' }, content: '' }],
    ['decoder', { type: 'Replace', pattern: { Regex: '(?:a|aa)+$' }, content: '' }],
  ])('is refused at load: %s %#', (part, value) => {
    const start = performance.now();
    expect(() => make({ [part]: value })).toThrow('can take exponential time; rewrite it without nested');
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it.each([
    ['a+c', 90_000, 680],
    ['a*a*a*a*a*c', 5000, 1600],
  ])('is interrupted where it takes too long: %s on %d characters', (Regex, length, limitMs) => {
    const tokenizer = make({ pre_tokenizer: split(Regex) });
    expect(tokenizer.encode('ab')).toEqual([0, 1]);
    const start = performance.now();
    expect(() => tokenizer.encode('a'.repeat(length))).toThrow(
      `encode: ${length} characters took longer than ${limitMs} ms with the expressions of x/tokenizer.json; pass shorter`,
    );
    // The limit, and what a busy machine adds.
    expect(performance.now() - start).toBeLessThan(limitMs + 2000);
    expect(tokenizer.encode('ab')).toEqual([0, 1]);
  });

  it('may be a quick one on a long text', () => {
    const tokenizer = make({ pre_tokenizer: split('\\s+(?!\\S)|a+|b+') });
    expect(tokenizer.encode('ab'.repeat(50_000))).toHaveLength(100_000);
  });
});

describe('a token id that is none', () => {
  it.each([0.5, Number.NaN, -1.5, 1e9, 2, '0'])('is refused as the unknown token: %s', (unk_id) => {
    expect(() => make({ model: { ...unigram, unk_id } })).toThrow('x/tokenizer.json: model.unk_id:');
  });

  it.each([0.5, -1, 1e9])('is refused in a vocabulary and among added tokens: %s', (id) => {
    expect(() => make({ model: { ...bpe, vocab: { a: 0, b: id } } })).toThrow('model.vocab');
    expect(() => make({ added_tokens: [{ id, content: '<x>' }] })).toThrow('added_tokens.0.id');
  });

  it('is refused where it begins texts', () => {
    const post_processor = {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: 'a', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [],
      special_tokens: { a: { id: 'a', ids: [0.5], tokens: ['a'] } },
    };
    const load = () => make({ post_processor }).encode('b');
    try {
      expect(load().every((id) => Number.isInteger(id))).toBe(true); // the library may look the token up by its name
    } catch (error) {
      expect(error).toMatchObject({ name: 'FormatError' });
    }
  });

  it('is taken where it is one', () => {
    expect(make({ model: { ...unigram, unk_id: 0 } }).encode('az')).toEqual([1, 0]);
    expect(() => make({ model: { ...unigram, unk_id: null } }).encode('az')).toThrow('has no unknown token');
  });
});
