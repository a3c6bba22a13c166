import type { Message, Tokenizer, ToolSchema } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { characters, chat } from '../testing.ts';
import type { View } from './context.ts';
import { nextPrompt } from './next-prompt.ts';

const decoded = (tokens: readonly number[]) => characters.decode(tokens, { specialTokens: 'keep' });
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string, rest = {}): Message => ({ role: 'assistant', content, ...rest });

/** The prompt after a turn in which the policy saw `view` and said `said`. */
function after(
  view: View,
  said: string,
  shown: View,
  history: 'sampled' | 'template' = 'sampled',
  own = chat,
) {
  const text = said.replace(/¶$/, '');
  const tokens = characters.encode(said);
  const step = {
    promptTokens: typeof view === 'string' ? characters.encode(view) : own.render(view),
    ...{ tokens, behaviorLogprobs: tokens.map(() => -1), text },
    stopReason: said.endsWith('¶') ? ('stop' as const) : ('length' as const),
  };
  const next = nextPrompt({ view: shown }, { view, step }, { tokenizer: characters, chat: own }, history);
  return { ...next, text: decoded(next.tokens), before: decoded([...step.promptTokens, ...tokens]) };
}

describe('a prompt of text', () => {
  it.each([
    ['that goes on', 'q: ', 'a', 'q: a more'],
    ['that adds nothing', 'q: ', 'a', 'q: a'],
  ])('%s extends the tokens', (_, view, said, shown) => {
    expect(after(view, said, shown)).toMatchObject({ continuity: 'extended', text: shown });
  });

  it('that adds nothing keeps an unusual tokenisation of what was said', () => {
    const OTHER_A = 0x1ffe;
    const tokenizer: Tokenizer = {
      ...characters,
      decode: (tokens, options) =>
        characters.decode(
          tokens.map((token) => (token === OTHER_A ? 97 : token)),
          options,
        ),
    };
    const tokens = [OTHER_A];
    const promptTokens = tokenizer.encode('q: ');
    const step = { promptTokens, tokens, behaviorLogprobs: [-1], text: 'a', stopReason: 'length' } as const;
    const next = nextPrompt({ view: 'q: a' }, { view: 'q: ', step }, { tokenizer }, 'sampled');
    expect(next).toEqual({ continuity: 'extended', tokens: [...promptTokens, OTHER_A] });
  });

  it('that does not go on stands alone, with the reason', () => {
    for (const shown of ['other', 'q: ', 'q: b']) {
      expect(after('q: ', 'a', shown)).toMatchObject({
        ...{ continuity: 'split', text: shown },
        reason: 'the rendered prompt does not begin with the last prompt and response',
      });
    }
  });
});

describe('a prompt of messages', () => {
  const view = [user('q')];

  it.each<[string, string, readonly Message[]]>([
    ['its own words', 'a¶', [user('q'), assistant('a'), user('more')]],
    ['its words with other space around them', ' a ¶', [user('q'), assistant('a'), user('more')]],
    ['an answer that was cut', 'a', [user('q'), assistant('a'), user('more')]],
  ])('extends the tokens of %s', (_, said, shown) => {
    const { before, continuity, text } = after(view, said, shown);
    expect(continuity).toBe('extended');
    expect(text).toBe(`${before}${before.endsWith('¶') ? '' : '¶'}user:more¶assistant:`);
  });

  it.each<[string, readonly Message[], string]>([
    [
      'another answer',
      [user('q'), assistant('b'), user('more')],
      "the environment changed the assistant's message",
    ],
    ['no answer', [user('q')], "the environment changed the assistant's message"],
    [
      'an answer of another role',
      [user('q'), user('a'), user('more')],
      "the environment changed the assistant's message",
    ],
    [
      'another beginning',
      [user('Q'), assistant('a'), user('more')],
      'the environment changed earlier messages',
    ],
    [
      'another name in the beginning',
      [{ ...user('q'), name: 'n' }, assistant('a'), user('more')],
      'the environment changed earlier messages',
    ],
    ['nothing', [], 'the environment changed earlier messages'],
  ])('stands alone with %s', (_, shown, reason) => {
    // A marker in front, so that the rendering never goes on from the last prompt by itself.
    const marked = {
      ...chat,
      render: (messages: readonly Message[], options = {}) =>
        chat.render([user(`${messages.length}`), ...messages], options),
    };
    expect(after(view, 'a¶', shown, 'sampled', marked)).toMatchObject({ continuity: 'split', reason });
  });

  it.each<[string, string, Message, 'extended' | 'split']>([
    [
      'calls that were said',
      'x add(1)¶',
      assistant('x', {
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{}' } }],
      }),
      'extended',
    ],
    [
      'a call that was not said',
      'x sub(1)¶',
      assistant('x', {
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{}' } }],
      }),
      'split',
    ],
    ['no calls and fewer words', 'x add(1)¶', assistant('x', { tool_calls: [] }), 'split'],
  ])('knows an answer by %s', (_, said, shown, continuity) => {
    expect(after(view, said, [user('q'), shown, user('more')]).continuity).toBe(continuity);
  });

  it('after one of text, or before one, is compared as a whole', () => {
    const rendered = 'user:q¶assistant:';
    expect(after(rendered, 'a¶', [user('q'), assistant('a'), user('more')])).toMatchObject({
      ...{ continuity: 'extended', text: `${rendered}a¶user:more¶assistant:` },
    });
    expect(after(view, 'a¶', `${rendered}a¶ and`)).toMatchObject({
      continuity: 'extended',
      text: `${rendered}a¶ and`,
    });
  });

  it('shows the tools on offer, by text or by tokens', () => {
    const tools: readonly ToolSchema[] = [{ type: 'function', function: { name: 'add', parameters: {} } }];
    const seen: unknown[] = [];
    const noting = {
      ...chat,
      render: (messages: readonly Message[], options: Parameters<typeof chat.render>[1] = {}) => {
        seen.push(options.tools);
        return chat.render(messages, options);
      },
    };
    const tokens = characters.encode('a¶');
    const step = {
      promptTokens: chat.render(view),
      tokens,
      behaviorLogprobs: [-1, -1],
      text: 'a',
      stopReason: 'stop' as const,
    };
    const shown = [user('q'), assistant('a'), user('more')];
    nextPrompt({ view: shown, tools }, { view, step }, { tokenizer: characters, chat: noting }, 'sampled');
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.every((each) => each === tools)).toBe(true);
    seen.length = 0;
    nextPrompt({ view: shown }, { view, step }, { tokenizer: characters, chat: noting }, 'sampled');
    expect(seen.every((each) => each === undefined)).toBe(true);
  });
});
