import { describe, expect, it } from 'vitest';

import { type RenderText, turnContinuation } from './chat-history.ts';
import type { Message } from './message.ts';

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const call = (id: string, name = 'add') =>
  ({ id, type: 'function', function: { name, arguments: '{"a":1}' } }) as const;

/** `<role>content[name(arguments)]!` per message; `>` opens the assistant's turn. */
const render: RenderText = (messages, generationPrompt) =>
  messages
    .map(({ role, content, tool_calls: calls = [] }) => {
      const called = calls.map((each) => `[${each.function.name}(${each.function.arguments})]`).join('');
      return `<${role}>${content.trim()}${called}!\n`;
    })
    .join('') + (generationPrompt === 'add' ? '>' : '');

describe('turnContinuation', () => {
  it("is the turn's end, the later messages and the next header", () => {
    const messages = [user('a'), assistant('b'), user('c')];
    expect(turnContinuation(render, messages, 1)).toEqual({ turnEnd: '!\n', text: '!\n<user>c!\n>' });
    expect(turnContinuation(render, messages.slice(0, 2), 1)).toEqual({ turnEnd: '!\n', text: '!\n>' });
  });

  it('does not depend on what the assistant said, even if a message holds the marker', () => {
    for (const text of ['', '  b ', '!\n', 'sampledturn', 'sampledturnx']) {
      const { refusal, ...rest } = turnContinuation(
        render,
        [user('sampledturn'), assistant(text), user(text)],
        1,
      );
      expect([refusal, rest]).toEqual([undefined, { turnEnd: '!\n', text: `!\n<user>${text.trim()}!\n>` }]);
    }
  });

  it('keeps calls for templates that look them up, and leaves out their markup', () => {
    const lookUp: RenderText = (messages, generationPrompt) =>
      render(
        messages.map((message) => {
          if (message.role !== 'tool') return message;
          const called = messages.flatMap(({ tool_calls: calls = [] }) => calls);
          const { name } = called.find(({ id }) => id === message.tool_call_id)!.function;
          return { ...message, content: `${name} = ${message.content}` };
        }),
        generationPrompt,
      );
    for (const others of [[], [call('1')], [call('1'), call('3')]]) {
      const messages: Message[] = [
        user('a'),
        { ...assistant('b'), tool_calls: [...others, call('2', 'multiply')] },
        { role: 'tool', content: '41', tool_call_id: '2' },
      ];
      expect(turnContinuation(lookUp, messages, 1)).toEqual({
        turnEnd: '!\n',
        text: '!\n<tool>multiply = 41!\n>',
      });
    }
  });

  it('takes the turn as text if the markup of calls ends in another way', () => {
    const other: RenderText = (messages, generationPrompt) =>
      render(messages, generationPrompt).replaceAll(')]!', ')]?');
    const messages: Message[] = [user('a'), { ...assistant(''), tool_calls: [call('1')] }, user('c')];
    expect(turnContinuation(other, messages, 1)).toEqual({ turnEnd: '!\n', text: '!\n<user>c!\n>' });
  });

  it('ends the turn where the next message does, if only that ends it', () => {
    const between: RenderText = (messages) => messages.map(({ content }) => content).join('|');
    expect(turnContinuation(between, [user('a'), assistant('b'), user('c')], 1)).toEqual({
      turnEnd: '',
      text: '|c',
    });
  });

  it('leaves out what the template prints only behind the last message', () => {
    const last: RenderText = (messages, prompt) =>
      messages.map(({ content }) => `${content};`).join('') + (prompt === 'none' ? '<end>' : '>');
    expect(turnContinuation(last, [user('a'), assistant('b'), user('c')], 1)).toEqual({
      turnEnd: ';',
      text: ';c;>',
    });
  });

  it('begins behind the last place where the template prints what was said', () => {
    const twice: RenderText = (messages, prompt) =>
      messages
        .map(({ role, content }) => (role === 'user' ? `${content}!` : `${content}=${content}!`))
        .join('') + (prompt === 'add' ? '>' : '');
    expect(turnContinuation(twice, [user('a'), assistant('b'), user('c')], 1)).toEqual({
      turnEnd: '!',
      text: '!c!>',
    });
  });

  it('takes the turn as text if calls end in another way once something follows', () => {
    const followed: RenderText = (messages, prompt) => {
      const text = render(messages, prompt);
      return messages.length > 2 ? text.replaceAll(')]!', ')];!') : text;
    };
    const messages: Message[] = [user('a'), { ...assistant(''), tool_calls: [call('1')] }, user('c')];
    expect(turnContinuation(followed, messages, 1)).toEqual({ turnEnd: '!\n', text: '!\n<user>c!\n>' });
  });

  it('says why a template cannot be cut', () => {
    expect(turnContinuation(() => 'nothing', [user('a'), assistant('b')], 1)).toEqual({
      refusal: 'the chat template does not print what the assistant said',
    });
    const refusing = () => {
      throw new Error('roles must alternate');
    };
    expect(turnContinuation(refusing, [user('a'), assistant('b')], 1)).toEqual({
      refusal: 'roles must alternate',
    });
  });
});
