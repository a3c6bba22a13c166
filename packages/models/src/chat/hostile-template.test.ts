import { describe, expect, it } from 'vitest';
import { characterTokenizer } from '../tokenizer/built-tokenizers.ts';
import { chatRenderer } from './chat-renderer.ts';

const tokenizer = characterTokenizer('abc');
const render = (template: string, content = 'abc') =>
  chatRenderer(tokenizer, template).renderText([{ role: 'user', content }]);

function problemOf(template: string): unknown {
  try {
    return render(template);
  } catch (error) {
    return error;
  }
}

const loop = (depth: number, body = ''): string =>
  depth === 0 ? body : `{% for x${depth} in range(1000) %}${loop(depth - 1, body)}{% endfor %}`;
const doubled = (make: string) => `{% set ns = namespace(x='abcdefgh') %}${make.repeat(60)}`;

describe('a template that does too much', () => {
  it.each([
    ['a range without end', '{% for x in range(1000000000) %}{% endfor %}', 'at most 100000 are allowed'],
    ['a range to infinity', '{% for x in range(10 ** 9 * 10) %}{% endfor %}', ''],
    ['a range of small steps', '{% for x in range(0, 10, 0.0000001) %}{% endfor %}', 'are allowed'],
    ['nested loops', loop(3), 'steps'],
    ['nested loops with a body', loop(3, '{{ x1 }}'), 'steps'],
    [
      'a loop over a long text',
      "{% set ns = namespace(x='abcdefgh') %}{% for i in range(14) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{% for c in ns.x %}{% endfor %}",
      'steps',
    ],
    ['a condition in loops', `${loop(2)}{% for a in range(9000) if a > 9000 %}{% endfor %}`, 'steps'],
    ['a text that doubles', doubled('{% set ns.x = ns.x ~ ns.x %}'), 'a value of more than'],
    [
      'a list that doubles',
      `${doubled('{% set ns.x = [ns.x, ns.x] %}')}{{ ns.x | tojson }}`,
      'a value of more than',
    ],
    [
      'an object that doubles',
      `${doubled("{% set ns.x = {'a': ns.x, 'b': ns.x} %}")}{{ ns.x | tojson }}`,
      'a value',
    ],
    ['replacements that multiply', doubled("{% set ns.x = ns.x.replace('a', ns.x) %}"), ''],
    ['an indentation', "{{ 'abc' | indent(900000000, true) }}", ''],
    ['a macro that calls itself', '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}', ''],
    ['output that grows', loop(2, 'a'.repeat(200)), ''],
  ])('is refused: %s', (_, template, message) => {
    const start = performance.now();
    const error = problemOf(template);
    expect(error).toMatchObject({ name: 'ArgumentError', message: expect.stringContaining(message) });
    expect(performance.now() - start).toBeLessThan(8000);
  });

  it.each([
    ['too long', 'x'.repeat(200_000)],
    ['too much white space', ' '.repeat(90_000)],
    ['nested too deeply', '{{ '.concat('('.repeat(50_000), '1', ')'.repeat(50_000), ' }}')],
  ])('is refused when it is read: %s', (_, template) => {
    expect(() => render(template)).toThrow(expect.objectContaining({ name: 'FormatError' }));
  });

  it('may do more for a longer conversation', () => {
    const template = '{% for m in messages %}{% for n in messages %}{{ m.content }}{% endfor %}{% endfor %}';
    const messages = Array.from({ length: 100 }, () => ({ role: 'user', content: 'abc' }) as const);
    expect(chatRenderer(tokenizer, template).renderText(messages)).toHaveLength(3 * 100 * 100);
    expect(render('{{ messages[0].content }}', 'abc'.repeat(1_000_000))).toHaveLength(3_000_000);
  });
});

it('functions of templates cannot be confused with fields of the same name', () => {
  expect(
    render("{% set x = {'range': 1, 'strftime_now': 2} %}{{ x.range }}{{ x.strftime_now }}{{ range(3) }}"),
  ).toBe('12[0, 1, 2]');
});
