import { type Message, OptionsError, type RewardFunction } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkAnswer,
  checkNumbers,
  jsonFormat,
  matchFormatApproximately,
  matchFormatExactly,
  reasoningSteps,
  tagCount,
  tagLines,
  thinkFormat,
  xmlFormat,
} from '../../stock.ts';
import { answering } from '../../trajectories.fixture.ts';

const { signal } = new AbortController();

function judge<Metadata>(
  reward: RewardFunction<Metadata>,
  response: string,
  { metadata, messages = [] }: { metadata?: Metadata; messages?: readonly Message[] } = {},
): unknown {
  return reward(answering(response, metadata as Metadata, { messages }), { signal });
}

describe('thinkFormat', () => {
  it.each([
    ['<think>a</think>b', 1, 1],
    ['<think>a</think>', 1, 0],
    ['<think>a</think>\n', 1, 1],
    ['\n<think>a</think>b', 0, 1],
    ['<think>a<think>b</think>c', 0, 0],
    ['<think>a</think>b</think>c', 1, 0],
    ['<think>a', 0, 0],
    ['', 0, 0],
  ])('gives %j %d by TRL and %d by verifiers', (response, trl, verifiers) => {
    expect(judge(thinkFormat({ empty: 'passes' }), response)).toBe(trl);
    expect(judge(thinkFormat({ reading: 'verifiers', empty: 'passes' }), response)).toBe(verifiers);
  });

  it.each([
    '<think></think>b',
    '<think>\n </think>b',
    '<think>\u200b</think>b',
    '<think>a</think>\n',
    '<think>a</think>\u2800',
    '<think>Hmm. Let me think. Let me think.</think>b',
    '<think>[thinking goes here]</think>b',
    '<think>The answer is b</think>b',
    '<think>Let me analyze the problem carefully.</think>b',
    '<think>The user asks a question. I need to answer it.</think>b',
    '<think>null</think>b',
    '<think>The answer is below.</think>b',
  ])('gives nothing for %j', (response) => {
    for (const reading of ['trl', 'verifiers'] as const) {
      expect(judge(thinkFormat({ reading }), response)).toBe(0);
      expect(judge(thinkFormat({ reading, empty: 'passes' }), response)).toBe(1);
    }
  });

  it.each([
    ...['None of them.', 'No, it is not.', 'It is the third.', 'The first is right.', 'There is none.'],
    ...['Is Bern the capital? Bern is the capital.', 'Paris? Yes, Paris.', 'Is it prime? It is prime.'],
    ...['x equals y, so y equals x.', 'If p then q. p. So q.', 'north, south, north, south'],
    ...['Heads or tails? Heads beats tails.', 'A knave lies. A knave lies always.', '素数ですか？素数です。'],
  ])('takes the short thought %j for one', (thought) => {
    expect(judge(thinkFormat(), `<think>${thought}</think>b`)).toBe(1);
  });
});

describe('tagLines', () => {
  const options = { tags: ['think', 'answer'] } as const;
  it.each([
    ['<think>\na\n</think>\n<answer>\nb\n</answer>', 1, 1],
    ['<think>\n</think>\n<answer>\n</answer>\n', 1, 1],
    ['so <think>\na</think>\n<answer>\nb</answer>', 0, 1],
    ['<think>a</think>\n<answer>\nb</answer>', 0, 0],
    ['<think>\na</think>\n<answer>\nb</answer> x', 0, 0],
    ['<think>\na</think><answer>\nb</answer>', 0, 0],
  ])('gives %j %d as a whole and %d at the end', (response, whole, end) => {
    expect(judge(tagLines(options), response)).toBe(whole);
    expect(judge(tagLines({ ...options, place: 'end' }), response)).toBe(end);
  });
});

describe('XML fields', () => {
  it('scores a response alone, or the mean of the turns', () => {
    const reward = xmlFormat({ fields: ['think', 'answer'] });
    const good = '<think>a</think><answer>b</answer>';
    expect(judge(reward, good)).toBeCloseTo(1, 12);
    const messages: Message[] = [
      { role: 'assistant', content: good },
      { role: 'assistant', content: 'x' },
    ];
    expect(judge(reward, 'x', { messages })).toBeCloseTo(0.5, 12);
    expect(judge(reward, 'x', { messages: [{ role: 'user', content: 'x' }] })).toBe(0);
  });

  it.each([
    ['<think>a</answer>', 0, 0.6],
    ['<think>', 0, 0.4],
    ['x', 0, 0.2],
    ['<think>a<answer>b</answer>', 0.6, 1],
    ['<answer>b</answer>', 0.6, 0.6],
  ])('gives %j a %d by pairs and %d by single tags', (response, byPairs, byTags) => {
    const fields = ['think', 'answer'];
    expect(judge(xmlFormat({ fields }), response)).toBeCloseTo(byPairs, 12);
    expect(judge(xmlFormat({ fields, pairs: 'any' }), response)).toBeCloseTo(byTags, 12);
  });

  it('refuses a tag twice and a tag with brackets', () => {
    expect(() => xmlFormat({ fields: ['a', ['b', 'a']] })).toThrow(OptionsError);
    const word = 'must be letters, digits, "_" and "-", without brackets';
    expect(() => xmlFormat({ fields: ['<a>', ['b', 'c>']] })).toThrow(
      `fields.0: ${word}\n  - fields.1.1: ${word}`,
    );
  });
});

describe('jsonFormat', () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
    required: ['city', 'days'],
    additionalProperties: false,
  };
  it.each([
    ['{"city":"Bern","days":3}', 1, 1],
    ['```json\n{"city":"Bern","days":3}\n```', 1, 1],
    ['```\n[1]\n```', 1, 0],
    ['{"city":"Bern","days":0}', 1, 0],
    ['{"city":"Bern","days":1,"x":1}', 1, 0],
    ['{"__proto__":1,"city":"Bern","days":1}', 1, 0],
    ['Sure: {"city":"Bern","days":3}', 0, 0],
    ['', 0, 0],
    ['```json', 0, 0],
  ])('gives %j %d without a schema and %d with it', (response, any, fitting) => {
    expect(judge(jsonFormat(), response)).toBe(any);
    expect(judge(jsonFormat({ schema }), response)).toBe(fitting);
    const fromTask = jsonFormat({ schema: (metadata: { schema: object }) => metadata.schema });
    expect(judge(fromTask, response, { metadata: { schema } })).toBe(fitting);
  });

  it('reads a text without ink, or a gap to be filled, as an empty one', () => {
    const status = jsonFormat({ schema: { enum: ['todo', 'tbd', 'placeholder'] } });
    for (const text of ['todo', 'tbd', 'placeholder']) expect(judge(status, JSON.stringify(text))).toBe(1);
    const book = {
      properties: { title: { type: 'string', minLength: 1 }, type: { type: 'string', minLength: 1 } },
    };
    const titles = ['title', 'Title', '<title>', 'string', '\u2060', 'A title', 'Strings', '<b>Dune</b>'];
    const ofBooks = titles.map((title) =>
      judge(jsonFormat({ schema: book }), JSON.stringify({ title, type: 'string' })),
    );
    expect(ofBooks).toEqual([0, 0, 0, 0, 0, 1, 1, 1]);
    expect(judge(jsonFormat(), '\ufeff{"a":1}')).toBe(0);
    const filled = jsonFormat({ schema: { type: 'string', minLength: 1 } });
    for (const text of ['$', '<br>', '---', '{x}', 'N/A'])
      expect(judge(filled, JSON.stringify(text))).toBe(1);
    for (const text of [
      ' ',
      '\n',
      '\t',
      '\r\n',
      '   ',
      '\u200b',
      '\u3164',
      '\u0301',
      '&nbsp;',
      '<!-- x -->',
      '...',
      '{{title}}',
      '[insert title]',
    ])
      expect(judge(filled, JSON.stringify(text))).toBe(0);
  });

  it.each([
    ['{"title":" "}', 0],
    ['{"title":"\\n"}', 0],
    ['{"workspace":" "}', 0],
    ['{"name":"<name>"}', 0],
    ['{"name":"name"}', 1],
    ['{"tags":["a"," "]}', 0],
    ['{"rows":[["a"," "]]}', 0],
    ['["a"," "]', 0],
    ['[{"title":" "}]', 0],
    ['{"separator":" "}', 1],
    ['{"fieldDelimiter":"\\t"}', 1],
    ['{"line_separator":"\\r\\n","indent":"    "}', 1],
    ['{"tokens":["a"," ","b"]}', 1],
    ['[{"char":" "}]', 1],
  ])('takes a blank for text only where a key asks for one: %s earns %d', (response, expected) => {
    const text = { type: 'string', minLength: 1 };
    const items = {
      anyOf: [text, { type: 'array', items: { $ref: '#/$defs/any' } }, { $ref: '#/$defs/object' }],
    };
    const object = { type: 'object', additionalProperties: { $ref: '#/$defs/any' } };
    const reward = jsonFormat({ schema: { $ref: '#/$defs/any', $defs: { any: items, object } } });
    expect(judge(reward, response)).toBe(expected);
    const named = jsonFormat({ schema: { properties: { title: { enum: [' ', '-'] } } } });
    expect(judge(named, '{"title":" "}')).toBe(1);
  });

  it('gives what is nested too deeply 0', () => {
    const recursive = {
      $ref: '#/$defs/list',
      $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } },
    };
    const depth = 200_000;
    const deep = '['.repeat(depth) + ']'.repeat(depth);
    expect([0, 1]).toContain(judge(jsonFormat({ schema: recursive }), deep));
    expect(judge(jsonFormat(), '['.repeat(500_000))).toBe(0);
  });

  it('refuses a schema that is none', () => {
    expect(() => jsonFormat({ schema: { type: 'nothing' } })).toThrow(OptionsError);
  });
});

describe('the tables of reasoning and answer tags', () => {
  const metadata = { answer: '42' };
  const reference = { reference: ({ answer }: { answer: string }) => answer };
  const wrap = (answer: string) => `<reasoning>r</reasoning><answer>${answer}</answer>`;

  it.each([
    ['42', 3],
    [' 42\n', 1.5],
    ['42.0', 0.5],
    ['45', 0.5],
    ['50', 0.25],
    ['60', -1],
    ['many', -0.5],
  ])('checks the answer %j as %d', (answer, expected) => {
    expect(judge(checkAnswer(reference), wrap(answer), { metadata })).toBe(expected);
  });

  it('takes another table and other tags', () => {
    const reward = checkAnswer({ ...reference, reasoning: 'think', table: { exact: 1, missing: -2 } });
    expect(judge(reward, '<think>a</think><answer>42</answer>', { metadata })).toBe(1);
    expect(judge(reward, wrap('42'), { metadata })).toBe(-2);
    const table = { exakt: 1, wrong: Number.NaN };
    expect(() => checkAnswer({ ...reference, table } as never)).toThrow(/table\.wrong[\s\S]*exakt/);
  });

  it.each([
    ['٤٢', '40', 0.5],
    ['1_000', '1000', 0.5],
    ['42', 'inf', -1],
    ['nan', '42', -1],
    ['1__0', '10', -0.5],
    ['\u00854\u3000', '4', 1.5],
    ['\ufeff4', '4', -0.5],
  ])('reads %j against %j as Python reads floats and white space: %d', (given, answer, expected) => {
    expect(judge(checkAnswer(reference), wrap(given), { metadata: { answer } })).toBe(expected);
  });

  it('checks numbers and formats', () => {
    expect(judge(checkNumbers(reference), '<answer>is 42.0', { metadata })).toBe(1.5);
    expect(judge(checkNumbers(reference), '<answer>is 41, 42', { metadata })).toBe(0);
    expect(judge(matchFormatExactly(), wrap('1'))).toBe(3);
    expect(judge(matchFormatExactly(), `so ${wrap('1')}`)).toBe(0);
    expect(judge(matchFormatApproximately(), wrap('1'))).toBe(2.5);
    expect(judge(matchFormatApproximately(), 'x')).toBe(-2.5);
  });

  it('matches exactly where the regular expression of the original does', () => {
    const original = /^[\s]{0,}<reasoning>.+?<\/reasoning>.*?<answer>(.+?)<\/answer>[\s]{0,}$/ms;
    const pieces = ['<reasoning>', '</reasoning>', '<answer>', '</answer>', 'x', ' ', '\n'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (drawn) => {
        const text = drawn.join('');
        expect(judge(matchFormatExactly(), text)).toBe(original.test(text) ? 3 : 0);
      }),
      { numRuns: 500 },
    );
  });
});

describe('tagCount and reasoningSteps', () => {
  it('adds balanced tags and takes unbalanced ones', () => {
    const options = { tags: ['a', 'b'] };
    expect(judge(tagCount(options), '<a x="1">1</a><b>2</b>')).toBe(0.5);
    expect(judge(tagCount(options), '<a>1</a><b>')).toBe(0);
    expect(judge(tagCount({ ...options, pairs: 'any' }), '<a>1</a><b>')).toBe(0.5);
  });

  it('counts steps against the minimum', () => {
    expect(judge(reasoningSteps(), 'Step 1: add\n2. 7·2 = 14\n- 減')).toBe(1);
    expect(judge(reasoningSteps(), '\n- add\n- halve\n- round')).toBe(1);
    expect(judge(reasoningSteps(), '- add\n- halve\n- round')).toBeCloseTo(2 / 3, 12);
    expect(judge(reasoningSteps(), '1. add\n2. Add.\n3. add')).toBeCloseTo(1 / 3, 12);
    expect(judge(reasoningSteps(), '1. a\n2. b\n3. c')).toBe(1);
    expect(judge(reasoningSteps(), 'Step 1:\nStep 2:\nStep 3:\n')).toBe(0);
    expect(judge(reasoningSteps(), '<!-- Step 1: a. Step 2: b. Step 3: c. -->42')).toBe(0);
    expect(
      judge(reasoningSteps({ minimum: 2, maximum: 4 }), 'First, add. Then, halve. Finally, round.'),
    ).toBeCloseTo(2 / 3, 12);
    expect(() => reasoningSteps({ minimum: 3, maximum: 2 })).toThrow('must be at least minimum');
  });
});

describe('format rewards', () => {
  const all: RewardFunction[] = [
    thinkFormat(),
    thinkFormat({ reading: 'verifiers' }),
    tagLines({ tags: ['think', 'answer'], place: 'end' }),
    xmlFormat({ fields: ['think', ['code', 'answer']] }),
    jsonFormat(),
    matchFormatExactly(),
    matchFormatApproximately(),
    tagCount({ tags: ['think', 'answer'] }),
    reasoningSteps(),
  ];

  it('take linear time on hostile text', () => {
    const units = [
      '<think>',
      '</think>',
      '<reasoning>',
      '<reasoning>x</reasoning>',
      '<answer>',
      '</answer>x',
      '<think ',
      '\n',
      ' ',
      '```',
      '1',
      'Step ',
      '- ',
      '[',
      '{"a":',
      '<think>\n',
      '\ud800',
    ];
    const size = process.env.RLP_SLOW_TESTS ? 300_000 : 150_000;
    const begun = performance.now();
    for (const unit of units) for (const reward of all) judge(reward, unit.repeat(size / unit.length));
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  it('give finite numbers on any text', () => {
    const piece = fc.constantFrom(
      '<think>',
      '</think>',
      '<reasoning>',
      '</reasoning>',
      '<answer>',
      '</answer>',
      '{',
      '}',
      '\n',
      '1.',
      '\udc00',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        for (const reward of all) expect(judge(reward, pieces.join(''))).toSatisfy(Number.isFinite);
      }),
    );
  });
});
