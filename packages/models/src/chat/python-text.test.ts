import type { Message } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import { characterTokenizer } from '../tokenizer/built-tokenizers.ts';
import { chatRenderer } from './chat-renderer.ts';
import { readJson } from './template-values.ts';

const written = String.raw`{"big": 1234567890123456789, "one": 1.0, "zero": -0.0, "int": -0, "small": 1e-5, "tiny": 1.5e-7,
  "large": 1e16, "huge": 1E22, "below": 123456789012345.0, "tenth": 0.10, "flag": true, "none": null,
  "text": "it's \"é\"\n\u200b\u2028😀\u007f", "list": ["1.0", 2.0, [], {}], "neg": -12345678901234567890123}`;

function callOf(text: string): Message {
  const call = { id: 'abcdefghi', type: 'function', function: { name: 'f', arguments: text } } as const;
  return { role: 'assistant', content: '', tool_calls: [call] };
}

function render(template: string, text = written): string {
  const first = '{% set a = messages[0].tool_calls[0].function.arguments %}';
  return chatRenderer(characterTokenizer('a'), first + template).renderText([callOf(text)]);
}

/** What `apply_chat_template` of transformers 5.24 gave for these templates. */
const printed = String.raw`{'big': 1234567890123456789, 'one': 1.0, 'zero': -0.0, 'int': 0, 'small': 1e-05, 'tiny': 1.5e-07, 'large': 1e+16, 'huge': 1e+22, 'below': 123456789012345.0, 'tenth': 0.1, 'flag': True, 'none': None, 'text': 'it\'s "é"\n\u200b\u2028😀\x7f', 'list': ['1.0', 2.0, [], {}], 'neg': -12345678901234567890123}`;
const ascii = String.raw`{"below":123456789012345.0,"big":1234567890123456789,"flag":true,"huge":1e+22,"int":0,"large":1e+16,"list":["1.0",2.0,[],{}],"neg":-12345678901234567890123,"none":null,"one":1.0,"small":1e-05,"tenth":0.1,"text":"it's \"\u00e9\"\n\u200b\u2028\ud83d\ude00\u007f","tiny":1.5e-07,"zero":-0.0}`;
const cases: readonly (readonly [string, string])[] = [
  ['{{ a }}', printed],
  ['{{ a | string }}', printed],
  ["{{ a | tojson(ensure_ascii=true, sort_keys=true, separators=(',', ':')) }}", ascii],
  ['{{ [a.big, a.one, a.list] | tojson }}', '[1234567890123456789, 1.0, ["1.0", 2.0, [], {}]]'],
  ['{{ a.list | tojson(indent=2) }}', '[\n  "1.0",\n  2.0,\n  [],\n  {}\n]'],
  [
    "{{ a.list | tojson(indent=0) }}{{ {'k': []} | tojson(indent=1) }}",
    '[\n"1.0",\n2.0,\n[],\n{}\n]{\n "k": []\n}',
  ],
  ["{{ [1.0, 2] | tojson(true) }}{{ 'é' | tojson(true) }}", '[1.0, 2]"\\u00e9"'],
  [
    "{% for k, v in {'b': a.big, 'o': a.one, 'f': a.flag} | items %}{{ k ~ '=' ~ v }}|{{ v | string }}|{{ v }};{% endfor %}",
    'b=1234567890123456789|1234567890123456789|1234567890123456789;o=1.0|1.0|1.0;f=True|True|True;',
  ],
  ["{{ a.list | join(', ') }}", '1.0, 2.0, [], {}'],
  ["{{ [a.big, a.one, a.none, a.flag] | join('+') }}", '1234567890123456789+1.0+None+True'],
  ["{{ ('a', 1) }}{{ (1, true) | tojson }}", "('a', 1)[1, true]"],
  [
    "{{ none | string }}{{ none }}{{ nope }}{{ [nope] }}{{ nope | string }}{{ 'a' ~ nope ~ none }}",
    'NoneNone[Undefined]aNone',
  ],
  [
    "{{ ['it\\'s', 'q\"', 'both\\'\"', 'back\\\\', 'tab\t'] }}",
    String.raw`["it's", 'q"', 'both\'"', 'back\\', 'tab\t']`,
  ],
  ["{{ namespace(a=1, b='x') }}", "<Namespace {'a': 1, 'b': 'x'}>"],
  ['{% macro f(x) %}{{ x }}{% endmacro %}{{ f(a.one) }}{{ f(true) }}', '1.0True'],
  [
    '{% if a.flag %}{{ a.flag }}{% else %}{{ a.none }}{% endif %}{% set s %}{{ a.none }}{% endset %}{{ s }}',
    'TrueNone',
  ],
  [
    '{{ a.one + 1 }} {{ 1/2 }} {{ 4/2 }} {{ a.big > 3 }} {{ a.one is number }} {{ a.big is integer }}',
    '2.0 0.5 2.0 True True True',
  ],
  [
    '{% for x in [] %}{{ x }}{% else %}{{ false }}{% endfor %}{% for x in [true, none] %}{{ x }}{% endfor %}',
    'FalseTrueNone',
  ],
  [
    "{{ dict(a=a.one, b='x') }}{{ dict({'k': a.big, 'j': 1}, j=none) | tojson }}",
    "{'a': 1.0, 'b': 'x'}{\"k\": 1234567890123456789, \"j\": null}",
  ],
  ["{% for c in 'a😀b' %}{{ loop.index }}{{ c }}{{ c.type }}{% else %}none{% endfor %}", '1a2😀3b'],
  ["{% for c in '' %}{{ c }}{% else %}none{% endfor %}", 'none'],
  ['{% filter upper %}{{ true }}{% endfilter %}', 'TRUE'],
];

describe('values in a chat template', () => {
  it.each(cases)('%s prints as in Python', (template, expected) => {
    expect(render(template)).toBe(expected);
  });

  it('are refused where Python adds no list or object to a text', () => {
    expect(() => render("{{ 'a' + a }}")).toThrow('convert it with the filter tojson or string');
    expect(render("{{ 'a' + a }}", 'no JSON')).toBe('ano JSON');
  });

  it('are refused when they are nested too deeply', () => {
    const nested =
      '{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = [ns.x] %}{% endfor %}';
    for (const end of ['{{ ns.x }}', '{{ ns.x | tojson }}']) {
      expect(() => render(nested + end)).toThrow('nested more than 500 levels deep');
    }
  });

  it('are refused in JSON with absurd spaces', () => {
    expect(() => render('{{ a | tojson(indent=1000000000) }}')).toThrow('expected an indent of 0 to 16');
    expect(() => render("{{ a | tojson(separators=[',']) }}")).toThrow('expected two separators, got 1');
  });
});

describe('readJson', () => {
  it('reads what JSON.parse reads', () => {
    const text = String.raw`{"n1": "n1", "a\"1": "\\\"2: 3", "s": ["1", "", "\u006e5", -2, 0.5, 1e-300], "": {"__proto__": 1}}`;
    expect(readJson(text)).toEqual(JSON.parse(text));
    expect(() => readJson('{"a": 01}')).toThrow(SyntaxError);
    expect(readJson('"n"')).toBe('n');
  });

  it('keeps integers of any length', () => {
    expect(readJson('[9007199254740991, 9007199254740993]')).toEqual([9007199254740991, 9007199254740993n]);
  });
});
