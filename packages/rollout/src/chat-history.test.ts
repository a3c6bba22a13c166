import type { Message, Tokenizer } from '@rlp/core';
import { byteTokenizer, chatRenderer } from '@rlp/models';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { nextPrompt } from './episode/next-prompt.ts';
import { type Play, play as playWith, type Said, userAnswers } from './scripted-dialogue.fixture.ts';

/** Templates that behave as those of well-known models do, written for these tests. */
const templates = {
  plain:
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}" +
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
  /** Writes an empty think block into the last turn only, drops reasoning before the last question, and merges tool results. */
  thinking:
    '{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == "user" %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}' +
    '{% for m in messages %}{% if m.role == "tool" %}' +
    "{% if messages[loop.index0 - 1].role != 'tool' %}{{ '<|im_start|>user' }}{% endif %}" +
    "{{ '\n<tool_response>\n' + m.content + '\n</tool_response>' }}" +
    "{% if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{ '<|im_end|>\n' }}{% endif %}" +
    "{% elif m.role == 'assistant' %}{{ '<|im_start|>assistant\n' }}" +
    "{% if loop.index0 > ns.last %}{{ '<think>\n\n</think>\n\n' }}{% endif %}{{ m.content.split('</think>')[-1] }}" +
    '{% if m.tool_calls %}{% for c in m.tool_calls %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}{% endif %}' +
    "{{ '<|im_end|>\n' }}" +
    "{% else %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endif %}{% endfor %}" +
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}",
  /** Trims what was said, and ends turns with a space and the end token. */
  trimming:
    "{% for m in messages %}{% if m.role == 'user' %}{{ '<s>[INST] ' + m.content | trim + ' [/INST]' }}" +
    "{% else %}{{ ' ' + m.content | trim + ' <|im_end|>' }}{% endif %}{% endfor %}",
  /** Has no end token between turns. */
  words:
    "{% for m in messages %}{{ m.role + ': ' + m.content + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ 'assistant:' }}{% endif %}",
};

const tokenizer = byteTokenizer({ end: '<|im_end|>', others: ['<|im_start|>', '<think>', '</think>'] });

const play = (dialogue: Omit<Play, 'tokenizer'> & Partial<Pick<Play, 'tokenizer'>>) =>
  playWith({ tokenizer, ...dialogue });

const decoded = (tokens: readonly number[], own: Tokenizer = tokenizer) =>
  own.decode(tokens, { specialTokens: 'keep' });
const ended = (...texts: string[]): Said[] => texts.map((text) => ({ text, ending: '<|im_end|>' }));

describe("history: 'sampled'", () => {
  it.each(Object.entries(templates))(
    'keeps a dialogue of three turns in one row: %s',
    async (_, template) => {
      const { rows, steps, splits } = await play({
        chat: chatRenderer(tokenizer, template),
        said: ended('one', 'two', 'three'),
      });
      expect([rows.length, splits]).toEqual([1, 0]);
      const { tokens, mask } = rows[0]!;
      expect(tokens.filter((__, at) => mask[at] === 1)).toEqual(steps.flatMap((step) => step.tokens));
      const text = decoded(tokens);
      for (const part of ['question', 'one', 'more 0', 'two', 'more 1', 'three']) {
        expect(text.split(part)).toHaveLength(2);
      }
    },
  );

  it('shows each turn once, with its markers', async () => {
    const { rows } = await play({
      chat: chatRenderer(tokenizer, templates.thinking),
      said: ended('hm</think>\n\none', 'so</think>\n\ntwo'),
    });
    expect(decoded(rows[0]!.tokens)).toBe(
      '<|im_start|>user\nquestion<|im_end|>\n<|im_start|>assistant\n<think>\nhm</think>\n\none<|im_end|>\n' +
        '<|im_start|>user\nmore 0<|im_end|>\n<|im_start|>assistant\n<think>\nso</think>\n\ntwo<|im_end|>',
    );
  });

  it('closes a turn that was cut, and trains on no token of what closes it', async () => {
    const { rows } = await play({
      chat: chatRenderer(tokenizer, templates.thinking),
      said: [{ text: 'hm and' }, { text: 'two' }],
    });
    const [{ tokens, mask }] = rows as [(typeof rows)[0]];
    expect(decoded(tokens)).toContain('<think>\nhm and<|im_end|>\n<|im_start|>user\nmore 0');
    expect(decoded(tokens.filter((_, at) => mask[at] === 1))).toBe('hm andtwo');
  });

  it('keeps an end token that the template writes behind a space', async () => {
    const { rows } = await play({
      chat: chatRenderer(tokenizer, templates.trimming),
      said: [...ended(' one '), { text: ' cut' }, ...ended('three')],
    });
    expect(decoded(rows[0]!.tokens)).toBe(
      '<s>[INST] question [/INST] one <|im_end|><s>[INST] more 0 [/INST] cut <|im_end|><s>[INST] more 1 [/INST]three<|im_end|>',
    );
  });

  it('continues behind a stop string, of which the template repeats all, a part or nothing', async () => {
    const sampling = { stopStrings: ['user:', '\n', '!'] };
    const { rows } = await play({
      chat: chatRenderer(tokenizer, templates.words),
      said: [
        { text: ' one', ending: '\n' },
        { text: ' two\n', ending: 'user:' },
        { text: ' three', ending: '!' },
        { text: ' four\n\n' },
        { text: ' five' },
      ],
      options: { sampling },
    });
    expect(decoded(rows[0]!.tokens)).toBe(
      'user: question\nassistant: one\nuser: more 0\nassistant: two\nuser: more 1\n' +
        'assistant: three!\nuser: more 2\nassistant: four\n\n\nuser: more 3\nassistant: five',
    );
  });

  it('cuts nothing from the continuation of a response that nothing was cut from', () => {
    const chat = chatRenderer(tokenizer, templates.words);
    const view: Message[] = [{ role: 'user', content: 'question' }];
    const text = 'one\n';
    const tokens = tokenizer.encode(text, { specialTokens: 'none' });
    const behaviorLogprobs = tokens.map(() => -1);
    const step = {
      promptTokens: chat.render(view),
      tokens,
      behaviorLogprobs,
      text,
      stopReason: 'stop',
    } as const;
    const next = nextPrompt(
      { view: [...view, ...userAnswers(text, 0)] },
      { view, step },
      { tokenizer, chat },
      'sampled',
    );
    expect(next.continuity).toBe('extended');
    expect(decoded(next.tokens)).toBe('user: question\nassistant:one\n\nuser: more 0\nassistant:');
  });

  it("writes the turn's own end behind another end token", async () => {
    const two = byteTokenizer({ end: '<eos>', others: ['<|im_end|>'] });
    const { rows } = await play({
      chat: chatRenderer(two, templates.plain),
      tokenizer: two,
      said: [{ text: 'one', ending: '<eos>' }, { text: 'two' }],
    });
    expect(decoded(rows[0]!.tokens, two)).toContain('one<eos><|im_end|>\n<|im_start|>user\nmore 0');
  });

  it('continues behind calls of tools, read from the text, and merges their results', async () => {
    const call = (id: string) =>
      ({ id, type: 'function', function: { name: 'add', arguments: '{"a":1}' } }) as const;
    const text = 'so</think><tool_call>{"name": "add"}</tool_call><tool_call>{"name": "add"}</tool_call>';
    const { rows, splits } = await play({
      chat: chatRenderer(tokenizer, templates.thinking),
      said: ended(text, text),
      answer: () => [
        { role: 'assistant', content: '', tool_calls: [call('1'), call('2')] },
        { role: 'tool', content: '41', tool_call_id: '1' },
        { role: 'tool', content: '42', tool_call_id: '2' },
      ],
    });
    expect(splits).toBe(0);
    expect(decoded(rows[0]!.tokens)).toBe(
      `<|im_start|>user\nquestion<|im_end|>\n<|im_start|>assistant\n<think>\n${text}<|im_end|>\n<|im_start|>user` +
        '\n<tool_response>\n41\n</tool_response>\n<tool_response>\n42\n</tool_response><|im_end|>\n' +
        `<|im_start|>assistant\n<think>\n${text}<|im_end|>`,
    );
  });

  const cited = '<tool_call>{"name": "add"}</tool_call>';
  it.each([
    ['on both sides of a call', `I add.\n${cited}\n\nNow I wait.`, 'I add.\n\n\nNow I wait.', 0],
    ['in the line of a call', `I ${cited} add`, 'I  add', 0],
    ['between two calls', `First\n${cited}\nthen\n${cited}\nlast`, 'First\n\nthen\n\nlast', 0],
    ['that was not said', `I add.\n${cited}\n\nNow I wait.`, 'I add.\n\n\nNow I go.', 1],
    ['in another order', `one\n${cited}\ntwo`, 'two\n\none', 1],
  ])('knows its own turn by the text %s', async (_, text, content, expected) => {
    const calls = [{ id: '1', type: 'function', function: { name: 'add', arguments: '{}' } }] as const;
    const { splits } = await play({
      chat: chatRenderer(tokenizer, templates.plain),
      said: ended(text, 'done'),
      answer: () => [
        { role: 'assistant', content, tool_calls: calls },
        { role: 'tool', content: '41', tool_call_id: '1' },
      ],
    });
    expect(splits).toBe(expected);
  });

  it('works with a renderer that only gives tokens', async () => {
    const { render } = chatRenderer(tokenizer, templates.thinking);
    const { splits } = await play({ chat: { render }, said: ended('one', 'two') });
    expect(splits).toBe(0);
  });
});

describe('a dialogue that cannot be extended', () => {
  const chat = chatRenderer(tokenizer, templates.plain);

  it.each([
    [
      'changes what the policy said',
      (_: string, turn: number) => userAnswers('[removed]', turn),
      "the environment changed the assistant's message",
    ],
    [
      'invents calls',
      (text: string): Message[] => [
        {
          role: 'assistant',
          content: text,
          tool_calls: [{ id: '1', type: 'function', function: { name: 'absent', arguments: '{}' } }],
        },
        { role: 'tool', content: '1', tool_call_id: '1' },
      ],
      undefined,
    ],
  ])('falls back to the whole rendering if the environment %s', async (_, answer, reason) => {
    const { lastSplit, splits } = await play({ chat, said: ended('one', 'two'), answer });
    expect([splits, lastSplit]).toEqual([reason === undefined ? 0 : 1, reason]);
  });

  it('says that the environment changed earlier messages', async () => {
    const { splits, lastSplit } = await play({
      chat,
      said: ended('one', 'two'),
      show: (messages, turn) => [{ role: 'system', content: `turn ${turn}` }, ...messages],
    });
    expect([splits, lastSplit]).toEqual([1, 'the environment changed earlier messages']);
  });

  it('says that a template does not print what the policy said', async () => {
    const silent = chatRenderer(tokenizer, '{% for m in messages %}{{ m.role }}{% endfor %}');
    const { splits, lastSplit, rows, notes, notesLater } = await play({
      chat: silent,
      said: ended('one', 'two', 'three'),
    });
    expect([splits, rows.length]).toEqual([2, 3]);
    expect([notes, notesLater]).toEqual([
      [`a conversation continues in a new training row: ${lastSplit}`],
      [],
    ]);
    expect(lastSplit).toContain('does not print what the assistant said');
  });

  it.each(['sampled', 'template'] as const)(
    "refuses a continuation that does not decode to what was rendered, with history: '%s'",
    (history) => {
      const OTHER_O = 300;
      // Begins every text with a space, and has a second token for the letter o.
      const spaced: Tokenizer = {
        ...tokenizer,
        encode: (text) => [32, ...tokenizer.encode(text, { specialTokens: 'none' })],
        decode: (tokens, options) =>
          tokenizer.decode(
            tokens.map((token) => (token === OTHER_O ? 111 : token)),
            options,
          ),
      };
      const plain = chatRenderer(spaced, templates.plain);
      const view: Message[] = [{ role: 'user', content: 'question' }];
      const step = {
        promptTokens: plain.render(view),
        tokens: [OTHER_O, 110, 101],
        behaviorLogprobs: [-1, -1, -1],
        text: 'one',
        stopReason: 'length',
      } as const;
      const next = nextPrompt(
        { view: [...view, ...userAnswers('one', 0)] },
        { view, step },
        { tokenizer: spaced, chat: plain },
        history,
      );
      expect(next.continuity).toBe('split');
      expect(next.reason).toContain(history === 'sampled' ? 'does not decode' : 'does not begin with');
      expect(next.tokens).toEqual(plain.render([...view, ...userAnswers('one', 0)]));
    },
  );

  it('decodes what is new, not the conversation', () => {
    let decoded = 0;
    const counting: Tokenizer = {
      ...tokenizer,
      decode: (tokens, options) => {
        decoded += tokens.length;
        return tokenizer.decode(tokens, options);
      },
    };
    const chat = chatRenderer(counting, templates.plain);
    const tokens = tokenizer.encode('one<|im_end|>', { specialTokens: 'none' });
    const answer = {
      tokens,
      behaviorLogprobs: tokens.map(() => -1),
      text: 'one',
      stopReason: 'stop',
    } as const;
    let view: readonly Message[] = [{ role: 'user', content: 'question' }];
    let promptTokens: readonly number[] = chat.render(view);
    const costs = Array.from({ length: 30 }, () => {
      const shown = [...view, ...userAnswers('one', 0)];
      decoded = 0;
      const step = { ...answer, promptTokens };
      const next = nextPrompt({ view: shown }, { view, step }, { tokenizer: counting, chat }, 'sampled');
      [view, promptTokens] = [shown, next.tokens];
      expect(next).toEqual({ tokens: chat.render(view), continuity: 'extended' });
      return decoded;
    });
    expect(Math.max(...costs.slice(5))).toBe(costs[5]);
  });

  it('reads a prompt that was made with another tokenizer anew', () => {
    const OTHER_O = 300;
    // Shouts, and has a second token for the letter O.
    const loud: Tokenizer = {
      ...tokenizer,
      encode: (text, options) => tokenizer.encode(text.toLowerCase(), options),
      decode: (tokens, options) =>
        tokenizer
          .decode(
            tokens.map((token) => (token === OTHER_O ? 111 : token)),
            options,
          )
          .toUpperCase(),
    };
    const turn = (promptTokens: readonly number[], tokens: readonly number[], said: string) => ({
      ...{ promptTokens, tokens, behaviorLogprobs: tokens.map(() => -1), text: said },
      stopReason: 'length' as const,
    });
    const first: Message[] = [{ role: 'user', content: 'question' }];
    const second = [...first, ...userAnswers('one', 0)];
    const chat = chatRenderer(tokenizer, templates.plain);
    const one = turn(chat.render(first), tokenizer.encode('one'), 'one');
    const { tokens } = nextPrompt(
      { view: second },
      { view: first, step: one },
      { tokenizer, chat },
      'sampled',
    );
    const last = { view: second, step: turn(tokens, [OTHER_O, 110, 101], 'ONE') };
    const encoding = { tokenizer: loud, chat: chatRenderer(loud, templates.plain) };
    const next = nextPrompt({ view: [...second, ...userAnswers('one', 1)] }, last, encoding, 'template');
    expect(next.continuity).toBe('extended');
    expect(next.tokens.slice(0, tokens.length + 3)).toEqual([...tokens, OTHER_O, 110, 101]);
  });

  it("is one row per turn under history: 'template' if the template rewrites history, with the reason", async () => {
    const { splits, lastSplit } = await play({
      chat: chatRenderer(tokenizer, templates.thinking),
      said: ended('one', 'two', 'three'),
      options: { history: 'template' },
    });
    expect(splits).toBe(2);
    expect(lastSplit).toContain('does not begin with the last prompt and response');
  });
});

describe('random dialogues', () => {
  const word = fc.stringMatching(/^[a-z .\n<>/]{0,12}$/);
  const turns = fc.array(fc.record({ text: word, user: word, isCut: fc.boolean(), calls: fc.nat(2) }), {
    minLength: 1,
    maxLength: 5,
  });
  const scripted = (
    template: string,
    dialogue: readonly { text: string; user: string; isCut: boolean; calls: number }[],
    history: 'sampled' | 'template' = 'sampled',
  ) =>
    play({
      chat: chatRenderer(tokenizer, template),
      said: dialogue.map(({ text, isCut }) => (isCut ? { text } : { text, ending: '<|im_end|>' })),
      answer: (text, turn) => [
        { role: 'assistant', content: text },
        { role: 'user', content: dialogue[turn]!.user },
      ],
      options: { history },
    });

  it.each(Object.entries(templates))(
    'are one row that holds exactly what was sampled: %s',
    async (_, template) => {
      await fc.assert(
        fc.asyncProperty(turns, async (dialogue) => {
          const { rows, steps, splits } = await scripted(template, dialogue);
          expect([rows.length, splits]).toEqual([1, 0]);
          const { tokens, steps: owners } = rows[0]!;
          for (const [turn, step] of steps.entries()) {
            expect(tokens.filter((__, at) => owners[at] === turn)).toEqual(step.tokens);
          }
        }),
        { numRuns: 40 },
      );
    },
  );

  it("equal the template's own rendering if it keeps history", async () => {
    const chat = chatRenderer(tokenizer, templates.plain);
    await fc.assert(
      fc.asyncProperty(turns, async (dialogue) => {
        const { steps } = await scripted(templates.plain, dialogue);
        const messages = dialogue.flatMap(({ text, user }): Message[] => [
          { role: 'assistant', content: text },
          { role: 'user', content: user },
        ]);
        const opening: Message = { role: 'user', content: 'question' };
        for (const [turn, { promptTokens }] of steps.entries()) {
          expect(promptTokens).toEqual(chat.render([opening, ...messages.slice(0, 2 * turn)]));
        }
      }),
      { numRuns: 40 },
    );
  });

  it("equal history: 'template' wherever that is one row", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.values(templates)), turns, async (template, dialogue) => {
        const rendered = await scripted(template, dialogue, 'template');
        if (rendered.splits > 0) return;
        expect((await scripted(template, dialogue)).rows).toEqual(rendered.rows);
      }),
      { numRuns: 60 },
    );
  });
});
