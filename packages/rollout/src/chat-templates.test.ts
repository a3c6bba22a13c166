import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Message, type Tokenizer, turnContinuation } from '@rlp/core';
import { byteTokenizer, chatRenderer } from '@rlp/models';
import { describe, expect, it } from 'vitest';

import { type Play, play, type Said, userAnswers } from './scripted-dialogue.fixture.ts';

const tokenizer = byteTokenizer();

const shared = join(
  process.env.RLP_SHARED ?? fileURLToPath(new URL('../../../../shared', import.meta.url)),
  'data/chat_templates/cases.jsonl',
);
const isPresent = existsSync(shared);
if (!isPresent)
  console.warn(`skipping the templates of well-known models: ${shared} is absent; set RLP_SHARED`);

describe.skipIf(!isPresent)('templates of well-known models', () => {
  if (!isPresent) return void it('need the shared data');
  interface Case {
    readonly name: string;
    readonly chat_template: string;
    readonly data: Record<string, unknown>;
  }
  const cases = readFileSync(shared, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Case);

  const rendererOf = (
    { chat_template: template, data }: Case,
    own: Tokenizer,
    toolArguments: 'parsed' | 'text' = 'parsed',
  ) => {
    const { messages: _, tools: __, add_generation_prompt: ___, ...variables } = data;
    const clock = () => new Date(2025, 6, 10);
    return chatRenderer(own, template, { variables, clock, toolArguments });
  };
  const opening: Message = { role: 'user', content: 'question' };

  /** The token that ends a turn of this template, or one of our own. */
  const endOf = (each: Case, messages: readonly Message[]) => {
    const { renderText } = rendererOf(each, byteTokenizer(), formOf(each, messages));
    const continuation = turnContinuation(
      (all, generationPrompt) => renderText(all, { generationPrompt }),
      [opening, ...messages],
      1,
    );
    const text = continuation.refusal === undefined ? continuation.text : '';
    return /^\s*(<[^>\s]+>)/.exec(text)?.[1] ?? '<end>';
  };
  const formOf = (each: Case, messages: readonly Message[]) =>
    (['parsed', 'text'] as const).find((form) => {
      try {
        return rendererOf(each, tokenizer, form).renderText([opening, ...messages]) !== '';
      } catch {
        return false;
      }
    });
  const rendering = (messages: readonly Message[]) =>
    cases.filter((each) => formOf(each, messages) !== undefined);
  const playCase = async (
    each: Case,
    {
      said,
      answer,
      history,
    }: { said: string; answer: NonNullable<Play['answer']>; history: 'sampled' | 'template' },
    end?: string,
  ) => {
    const own = byteTokenizer({ end: end ?? '<end>' });
    const turn: Said = end === undefined ? { text: said } : { text: said, ending: end };
    return play({
      chat: rendererOf(each, own, formOf(each, answer('', 0))),
      tokenizer: own,
      said: [turn, turn, turn],
      answer,
      options: { history },
    });
  };

  it.each([
    ['ok', 16],
    ['<think>hm</think>\n\nok', 19],
  ])('keep a dialogue of three turns in one row: %j', async (said, splitBefore) => {
    const able = rendering(userAnswers(said, 0));
    expect(able).toHaveLength(48);
    let split = 0;
    for (const each of able) {
      const rendered = await playCase(each, { said, answer: userAnswers, history: 'template' });
      const sampled = await playCase(each, { said, answer: userAnswers, history: 'sampled' });
      expect([each.name, sampled.rows.length]).toEqual([each.name, 1]);
      if (rendered.splits > 0) split += 1;
      else expect([each.name, sampled.rows]).toEqual([each.name, rendered.rows]);
    }
    expect(split).toBe(splitBefore);
  });

  it('continue behind the end token that was sampled, which occurs once', async () => {
    for (const each of rendering(userAnswers('ok', 0))) {
      const end = endOf(each, userAnswers('ok', 0));
      const rendered = await playCase(each, { said: 'ok', answer: userAnswers, history: 'template' }, end);
      const sampled = await playCase(each, { said: 'ok', answer: userAnswers, history: 'sampled' }, end);
      expect([each.name, sampled.rows.length]).toEqual([each.name, 1]);
      const text = byteTokenizer({ end }).decode(sampled.rows[0]!.tokens, { specialTokens: 'keep' });
      expect([each.name, text.includes(`ok${end}${end}`)]).toEqual([each.name, false]);
      if (rendered.splits === 0) expect([each.name, sampled.rows]).toEqual([each.name, rendered.rows]);
    }
  });

  it('keep a dialogue with a tool in one row', async () => {
    const said = '<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>';
    const call = { id: 'abcdefgh1', type: 'function', function: { name: 'add', arguments: '{}' } } as const;
    const answer = (): Message[] => [
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', name: 'add', tool_call_id: 'abcdefgh1', content: '22' },
    ];
    const able = rendering(answer());
    expect(able).toHaveLength(44);
    for (const each of able) {
      const end = endOf(each, answer());
      const { rows } = await playCase(each, { said, answer, history: 'sampled' }, end);
      expect([each.name, rows.length]).toEqual([each.name, 1]);
    }
  });
});
