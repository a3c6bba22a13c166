import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ArgumentError, FormatError, type Message } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import { hasSharedData, sharedData } from '../testing/shared-data.ts';
import { byteTokenizer } from '../tokenizer/built-tokenizers.ts';
import { type ChatRendererOptions, chatRenderer } from './chat-renderer.ts';
import { strftime } from './strftime.ts';

const tokenizer = byteTokenizer({ end: '<|im_end|>' });
const hello: Message[] = [{ role: 'user', content: 'Hi' }];

describe('chatRenderer', () => {
  const template =
    '{% for m in messages %}<{{ m.role }}>{{ m.content }}<|im_end|>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}';

  it('renders to text and to its tokens, special tokens included', () => {
    const chat = chatRenderer(tokenizer, template);
    expect(chat.renderText(hello)).toBe('<user>Hi<|im_end|><assistant>');
    expect(chat.renderText(hello, { generationPrompt: 'none' })).toBe('<user>Hi<|im_end|>');
    const tokens = chat.render(hello, { generationPrompt: 'none' });
    expect(tokens.at(-1)).toBe(tokenizer.tokenId('<|im_end|>'));
    expect(tokens).toHaveLength('<user>Hi'.length + 1);
  });

  it('gives templates tool arguments as objects', () => {
    const chat = chatRenderer(
      tokenizer,
      '{% for m in messages %}{% for c in m.tool_calls %}{{ c.function.arguments.city }}{% endfor %}{% endfor %}',
    );
    const call = {
      id: '1',
      type: 'function' as const,
      function: { name: 'weather', arguments: '{"city":"Oslo"}' },
    };
    expect(chat.renderText([{ role: 'assistant', content: '', tool_calls: [call] }])).toBe('Oslo');
    const broken = { ...call, function: { name: 'weather', arguments: '{"city' } };
    expect(chat.renderText([{ role: 'assistant', content: '', tool_calls: [broken] }])).toBe('');
  });

  it("prints the clock's date, and asks for a clock where there is none", () => {
    const dated = '{{ strftime_now("%d %B %Y, %H:%M") }}';
    const clock = () => new Date(2025, 6, 10, 9, 5);
    expect(chatRenderer(tokenizer, dated, { clock }).renderText(hello)).toBe('10 July 2025, 09:05');
    expect(() => chatRenderer(tokenizer, dated).renderText(hello)).toThrow('pass a clock');
    expect(strftime(new Date(2024, 1, 3, 13, 0, 9), '%a %A %b %y %I %p %S %% %Q')).toBe(
      'Sat Saturday Feb 24 01 PM 09 % %Q',
    );
  });

  it('says what is wrong with a template or with the messages', () => {
    expect(() => chatRenderer(tokenizer, '{% if %}', { origin: 'm' })).toThrow(FormatError);
    const picky = chatRenderer(tokenizer, '{{ raise_exception("roles must alternate") }}', { origin: 'm' });
    expect(() => picky.renderText(hello)).toThrow(ArgumentError);
    expect(() => picky.renderText(hello)).toThrow('m: cannot render the messages (roles must alternate)');
  });
});

interface Case {
  readonly name: string;
  readonly chat_template: string;
  readonly data: { messages: Message[]; tools?: unknown[]; add_generation_prompt?: boolean };
  readonly target: string;
}

/** Templates that print a list. Their targets were recorded in JavaScript; these are the sums of what transformers 5.24 prints. */
const printsAsPython: Readonly<Record<string, string>> = {
  'MadeAgents/Hammer2.1': 'abfc928b0a510de2e9fb1b1f05dc9ceb4a81d755e51062aab46759bdb3768de3',
};

const isPresent = hasSharedData();

describe.skipIf(!isPresent)('53 templates of well-known models', () => {
  if (!isPresent) return void it('needs the shared data');
  const cases = readFileSync(join(sharedData, 'chat_templates', 'cases.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Case);

  it('are 53', () => expect(cases).toHaveLength(53));

  it.each(cases.map((each) => [each.name, each] as const))('%s renders letter by letter', (_, each) => {
    const { messages, tools, add_generation_prompt: prompt, ...variables } = each.data;
    // The one dated target was recorded on this day.
    const clock = () => new Date(2025, 6, 10);
    const options: ChatRendererOptions = { clock, toolArguments: 'text' };
    const rendered = chatRenderer(tokenizer, each.chat_template, options).renderText(messages, {
      variables: { ...variables, add_generation_prompt: prompt },
      ...(tools && { tools }),
    });
    const recorded = printsAsPython[each.name];
    if (recorded === undefined) expect(rendered).toBe(each.target);
    else expect(createHash('sha256').update(rendered).digest('hex')).toBe(recorded);
  });
});
