import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { FormatError } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import { hasSharedData, sharedData } from '../testing/shared-data.ts';
import { byteTokenizer } from '../tokenizer/built-tokenizers.ts';
import { chatRenderer } from './chat-renderer.ts';
import { describeChatTemplate } from './describe-template.ts';

/** Written for these tests, after the habits of well-known models. */
const CHATML =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
const THINKING =
  '{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == "user" %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}' +
  '{% if tools %}{% for tool in tools %}{{ tool | tojson }}{% endfor %}{% endif %}' +
  "{% for m in messages %}{% if m.role == 'assistant' %}{{ '<|im_start|>assistant\n' }}" +
  "{% if loop.index0 > ns.last %}{{ '<think>\n' + (m.reasoning_content or '') + '\n</think>\n\n' }}{% endif %}" +
  "{{ m.content.split('</think>')[-1] }}{% if m.tool_calls %}{% for c in m.tool_calls %}<tool_call>" +
  "{{ c.function.name + ' ' }}{{ c.function.arguments | tojson }}</tool_call>{% endfor %}{% endif %}{{ '<|im_end|>\n' }}" +
  "{% else %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endif %}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}";
const PICKY =
  "{{ bos_token + strftime_now('%Y') }}{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}" +
  "{{ raise_exception('roles must alternate') }}{% endif %}{% if m.role == 'user' %}{{ '[INST] ' + m.content + ' [/INST]' }}" +
  "{% else %}{% generation %}{{ ' ' + m.content | trim + ' </s>' }}{% endgeneration %}{% endif %}{% endfor %}";
const TEXT_ARGUMENTS =
  "{% for m in messages %}{{ '<' + m.role + '>' + m.content }}{% if m.tool_calls %}{% if m.tool_calls | length > 1 %}" +
  "{{ raise_exception('one call at a time') }}{% endif %}{{ '[' + m.tool_calls[0].function.name + ' ' + " +
  "m.tool_calls[0].function.arguments + ']' }}{% endif %}<end>{% endfor %}";

describe('describeChatTemplate', () => {
  it('describes a plain template', () => {
    const kept = { sampled: 'one-row', rendered: 'one-row', reason: undefined };
    expect(describeChatTemplate(CHATML)).toEqual({
      system: 'printed',
      consecutiveUsers: 'printed',
      tools: 'dropped',
      toolCalls: 'dropped',
      parallelToolCalls: 'dropped',
      toolArguments: 'none',
      toolRole: 'printed',
      reasoning: { inHistory: 'kept', field: 'dropped', opened: false },
      generationPrompt: '<|im_start|>assistant\n',
      turnEnd: '<|im_end|>\n',
      generationBlock: false,
      date: false,
      history: { dialogue: kept, reasoning: kept, tools: kept },
    });
  });

  it('describes a template that thinks, calls tools and rewrites history', () => {
    const description = describeChatTemplate(THINKING);
    expect(description).toMatchObject({
      tools: 'printed',
      toolCalls: 'printed',
      parallelToolCalls: 'printed',
      toolArguments: 'parsed',
      reasoning: { inHistory: 'stripped', field: 'printed', opened: true },
      generationPrompt: '<|im_start|>assistant\n<think>\n',
      turnEnd: '<|im_end|>\n',
    });
    const rewritten = { sampled: 'one-row', rendered: 'row-per-turn', reason: undefined };
    expect(description.history).toMatchObject({ dialogue: rewritten, reasoning: rewritten });
    expect(description.history.tools.sampled).toBe('one-row');
  });

  it('describes what a template refuses, with its reason', () => {
    const description = describeChatTemplate(PICKY, { variables: { bos_token: '<s>' } });
    expect(description).toMatchObject({
      system: 'refused',
      consecutiveUsers: 'refused',
      toolRole: 'refused',
      turnEnd: ' </s>',
      generationPrompt: '',
      generationBlock: true,
      date: true,
    });
    expect(description.history.dialogue).toMatchObject({ sampled: 'one-row' });
    const noVariable = describeChatTemplate("{{ raise_exception('no messages please') }}");
    expect(noVariable.history.dialogue).toMatchObject({ sampled: 'refused', rendered: 'refused' });
    expect(noVariable.history.dialogue.reason).toContain('no messages please');
    expect(noVariable.turnEnd).toBe('');
  });

  it('finds the form of arguments and whether calls may be parallel', () => {
    expect(describeChatTemplate(TEXT_ARGUMENTS)).toMatchObject({
      toolCalls: 'printed',
      toolArguments: 'text',
      parallelToolCalls: 'refused',
    });
  });

  it('reads the template and the variables of a renderer', () => {
    const renderer = chatRenderer(byteTokenizer(), PICKY, { variables: { bos_token: '<s>' } });
    expect(describeChatTemplate(renderer)).toEqual(
      describeChatTemplate(PICKY, { variables: { bos_token: '<s>' } }),
    );
  });

  it('refuses what is not a template', () => {
    expect(() => describeChatTemplate('{% if %}')).toThrow(FormatError);
  });
});

const isPresent = hasSharedData();

describe.skipIf(!isPresent)('templates of well-known models', () => {
  if (!isPresent) return void it('need the shared data');
  const descriptions = readFileSync(join(sharedData, 'chat_templates', 'cases.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const { name, chat_template: template, data } = JSON.parse(line);
      const { messages: _, tools: __, add_generation_prompt: ___, ...variables } = data;
      return { name: name as string, ...describeChatTemplate(template, { variables }) };
    });
  const count = (holds: (each: (typeof descriptions)[0]) => boolean) => descriptions.filter(holds).length;

  it('can all be extended if they render a dialogue: 48 of 53, 16 of which rewrite history', () => {
    expect(count(({ history }) => history.dialogue.sampled === 'one-row')).toBe(48);
    expect(count(({ history }) => history.dialogue.rendered === 'row-per-turn')).toBe(16);
    expect(count(({ history }) => history.reasoning.sampled === 'one-row')).toBe(48);
    expect(count(({ history }) => history.reasoning.rendered === 'row-per-turn')).toBe(18);
  });

  it('can all be extended after a call if they render one: 44 of 53', () => {
    expect(count(({ history }) => history.tools.sampled === 'one-row')).toBe(44);
    expect(count(({ toolCalls, toolRole }) => toolCalls === 'printed' && toolRole === 'printed')).toBe(15);
    expect(count(({ parallelToolCalls }) => parallelToolCalls === 'printed')).toBe(14);
  });

  it('differ in system messages, tools, reasoning, blocks and dates', () => {
    expect(count(({ system }) => system === 'printed')).toBe(44);
    expect(count(({ consecutiveUsers }) => consecutiveUsers === 'refused')).toBe(9);
    expect(count(({ tools }) => tools === 'printed')).toBe(18);
    expect(count(({ generationBlock }) => generationBlock)).toBe(2);
    expect(count(({ date }) => date)).toBe(3);
    const stripping = descriptions.filter(({ reasoning }) => reasoning.inHistory === 'stripped');
    expect(stripping.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Qwen/Qwen3-0.6B', 'deepseek-ai/DeepSeek-R1']),
    );
    expect(stripping).toHaveLength(4);
  });
});
