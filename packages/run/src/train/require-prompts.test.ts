import { ConversationEnvironment, SimpleTextEnvironment } from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { expect, it } from 'vitest';
import type { RunEnvironment } from './environment.ts';
import { requirePrompts } from './require-prompts.ts';

const model = { tokenizer: characterTokenizer('abc', { end: '.' }), chat: undefined };
const check = (prompts: readonly string[], environment: unknown = new SimpleTextEnvironment()) =>
  requirePrompts(
    prompts.map((prompt, at) => ({ id: `${at + 1}`, prompt, metadata: {}, source: 'rows.csv' })),
    { environment: environment as RunEnvironment, model, context: 4 },
  );

it('takes rows if one of them can be asked', () => {
  check(['abcabc', 'x', 'ab']);
  check([]);
});

it('refuses rows of which none leaves room for an answer, or can be read', () => {
  expect(() => check(['abcabc', 'abca'])).toThrow(
    'data: expected prompts that can be asked, got none among 2 rows; the first, rows.csv, row 1: it has 6 tokens, and a context of 4 leaves no room',
  );
  expect(() => check(['x'])).toThrow(
    /none among 1 row; the first, rows\.csv, row 1: encode: "x" is not in the/,
  );
  expect(() => check(['a'], new ConversationEnvironment())).toThrow(
    /it is of messages, and the model has no chat/,
  );
});
