import { describe, expect, it } from 'vitest';
import { parsedJson } from './parsed-json.ts';

describe('parsedJson', () => {
  it.each([
    '{"a": 1, "b": {"a": 1}, "c": [{"a": 2}, {"a": 3}]}',
    '{"a": "\\"a\\": 1, \\"a\\": 2", "": ":"}',
    '{"__proto__": 1, "constructor": {}}',
    '["a", "b:", ":"]',
    '"a"',
    '{}',
    'null',
  ])('reads %s as JSON.parse does', (text) => {
    expect(parsedJson(text)).toEqual(JSON.parse(text));
  });

  it.each([
    '{"a": 1, "a": 1}',
    '{"a": 1, "\\u0061": 2}',
    '[{"b": {"a": 1, "c": 2, "a": 3}}]',
    '{"a": 1e999}',
    '{"a": 1,}',
    '',
  ])('refuses %s', (text) => {
    expect(() => parsedJson(text)).toThrow(SyntaxError);
  });

  it('reads deep and long text', () => {
    const deep = `${'{"a":['.repeat(1000)}${']}'.repeat(1000)}`;
    expect(parsedJson(deep)).toEqual(JSON.parse(deep));
    const long = JSON.stringify({ text: '\\"'.repeat(1_000_000) });
    expect(parsedJson(long)).toEqual(JSON.parse(long));
  });
});
