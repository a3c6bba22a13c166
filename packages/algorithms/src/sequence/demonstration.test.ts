import type { ChatRenderer, Message, ToolSchema } from '@rlp/core';
import { byteTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { judgedPair } from '../preference/preferences.ts';
import { demonstrationSequences } from './demonstration.ts';

const tokenizer = byteTokenizer();
const chat: ChatRenderer = {
  render: (messages, { tools = [], generationPrompt = 'add' } = {}) => {
    const shown = (tools as readonly ToolSchema[]).map(({ function: { name } }) => `[${name}]`).join('');
    const said = messages.map(({ role, content }) => `${role[0]}:${content}|`).join('');
    return tokenizer.encode(shown + said + (generationPrompt === 'add' ? 'a:' : ''), {
      specialTokens: 'none',
    });
  },
};
const tools = [{ type: 'function', function: { name: 'light' } }] as const;
const messages: Message[] = [
  { role: 'user', content: 'On!' },
  { role: 'assistant', content: 'Yes.' },
];

const shown = ({ tokens, mask }: { tokens: readonly number[]; mask: Uint8Array | readonly number[] }) => [
  tokenizer.decode(tokens, { specialTokens: 'keep' }),
  tokenizer.decode(
    tokens.filter((_, t) => mask[t] === 1),
    { specialTokens: 'keep' },
  ),
];

describe('tools of a demonstration', () => {
  it('are in the prompt', () => {
    const [sequence] = demonstrationSequences({ messages, tools }, { tokenizer, chat });
    expect(shown(sequence!)).toEqual(['[light]u:On!|a:Yes.|', 'Yes.|']);
  });

  it('are in both prompts of a preference', () => {
    const { chosen, rejected } = judgedPair(
      { prompt: messages, chosen: [{ role: 'assistant', content: 'Done.' }], rejected: 'No.', tools },
      { tokenizer, chat },
    );
    expect(shown(chosen)).toEqual(['[light]u:On!|a:Yes.|a:Done.|', 'Done.|']);
    expect(shown(rejected)).toEqual(['[light]u:On!|a:Yes.|a:No.|', 'No.|']);
  });
});
