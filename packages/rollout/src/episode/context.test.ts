import { ArgumentError, type ToolSchema } from '@rlp/core';
import { expect, it } from 'vitest';
import { characters, chat } from '../testing.ts';
import { encodeView } from './context.ts';

const view = [{ role: 'user', content: 'Why?' }] as const;
const tools: readonly ToolSchema[] = [{ type: 'function', function: { name: 'add', parameters: {} } }];

it('text is encoded as it is, and messages by the chat format, with the tools on offer', () => {
  const rendered: unknown[][] = [];
  const noting = {
    render: (...given: Parameters<typeof chat.render>) => {
      rendered.push(given);
      return chat.render(...given);
    },
  };
  const encoding = { tokenizer: characters, chat: noting };
  expect(encodeView('Why?', encoding, tools)).toEqual(characters.encode('Why?'));
  expect(rendered).toEqual([]);
  expect(characters.decode(encodeView(view, encoding))).toBe('user:Why?assistant:');
  encodeView(view, encoding, tools);
  expect(rendered).toEqual([
    [view, undefined],
    [view, { tools }],
  ]);
});

it.each<[unknown, string]>([
  [
    Promise.resolve(view),
    'expected a prompt of text or a list of messages, got a promise, which it must not return',
  ],
  [7, 'expected a prompt of text or a list of messages, got 7'],
  [undefined, 'expected a prompt of text or a list of messages, got undefined'],
  [
    view,
    'RolloutManager: the environment builds prompts of messages, which need a chat renderer: pass `chat: model.chat`, or use prompts of text if the model has no chat template',
  ],
])('%o cannot be encoded', (given, problem) => {
  expect(() => encodeView(given as never, { tokenizer: characters })).toThrow(new ArgumentError(problem));
});
