import type { Message } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { afterThinking, lastCodeBlock, readXmlFields, xmlAnswer } from '../index.ts';

describe('lastCodeBlock', () => {
  it.each([
    ['```js\n1\n```\nand\n```js\n2\n```', 'js', '2'],
    ['```\n1\n```', 'js', '1'],
    ['```python\n1\n```', 'js', undefined],
    ['```python\n1\n```', undefined, '1'],
    ['```js\na\n\nb\n```', 'JS', 'a\n\nb'],
    ['```js\n```', 'js', ''],
    ['```py\n1\n```', 'python', '1'],
    ['```py\n1\n```\nprints\n```\n2\n```', 'python', '1'],
    ['```python:solution.py\n1\n```', 'python', '1'],
    ['```{.python .numberLines}\n1\n```', 'py', '1'],
    ['```python3 title="a"\r\n1\r\n```\r\n', 'python', '1\r'],
    ['1. so\n   ```python\n   if x:\n     y\n\n  z\n   ```', 'python', 'if x:\n  y\n\nz'],
    ['````md\n```\na\n```\n````', 'md', '```\na\n```'],
    ['```js\n1\n```js\n2\n```', 'js', '1\n```js\n2'],
    ['```a`b\n1\n```', undefined, undefined],
    ['```js\n1', 'js', undefined],
    ['1', 'js', undefined],
  ])('reads %j for %j as %j', (text, language, code) => {
    expect(lastCodeBlock(text, language)).toBe(code);
  });
});

describe('XML fields', () => {
  it('reads the first or the last pair of each tag', () => {
    const text = '<answer>1</answer><answer> 2 </answer><code>';
    const fields = ['answer', ['code', 'text']] as const;
    expect(readXmlFields(text, fields)).toEqual({ answer: '1', code: null, text: null });
    expect(readXmlFields(text, fields, 'last').answer).toBe('2');
  });

  it('finds the last turn that answers', () => {
    const messages: Message[] = [
      { role: 'assistant', content: '<answer>1</answer>' },
      { role: 'user', content: '<answer>2</answer>' },
      { role: 'assistant', content: 'hm' },
    ];
    expect([xmlAnswer(messages), xmlAnswer(messages, 'code')]).toEqual(['1', null]);
  });
});

describe('afterThinking', () => {
  it('leaves the answer after the thoughts', () => {
    expect([afterThinking('<think>a</think> b\u0085'), afterThinking('b')]).toEqual(['b', undefined]);
  });
});
