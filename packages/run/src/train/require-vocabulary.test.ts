import { expect, it } from 'vitest';
import { requireVocabulary } from './require-vocabulary.ts';

const tokenizerOf = (vocab: Record<string, number>, ...added: readonly (readonly [string, number])[]) => ({
  vocabularySize: Math.max(...Object.values(vocab), ...added.map(([, id]) => id)) + 1,
  tokenText: (id: number) => [...Object.entries(vocab), ...added].find(([, known]) => known === id)?.[0],
});
const own = tokenizerOf({ a: 0, b: 1 }, ['<end>', 2]);
const check = (tokenizer: typeof own) => requireVocabulary('judge', { name: 'judges/one', tokenizer }, own);

it('takes a vocabulary in another order, with further tokens', () => {
  check(tokenizerOf({ b: 1, a: 0 }, ['<end>', 2]));
  check(tokenizerOf({ a: 0, '<end>': 2, b: 1 }, ['<pad>', 3]));
});

it('takes a vocabulary with a gap where the model has one', () => {
  const gap = tokenizerOf({ a: 0 }, ['<end>', 5]);
  requireVocabulary('judge', { name: 'n', tokenizer: tokenizerOf({ a: 0, b: 1 }, ['<end>', 5]) }, gap);
});

it('refuses one that means another token by an id, or lacks one, and names it', () => {
  expect(() => check(tokenizerOf({ a: 1, b: 0 }, ['<end>', 2]))).toThrow(
    'judge: judges/one has another vocabulary than the model: token 0 is "a" of the model, and "b" of judges/one; choose',
  );
  expect(() => check(tokenizerOf({ a: 0, b: 1 }))).toThrow('token 2 is "<end>" of the model, and none of');
});
