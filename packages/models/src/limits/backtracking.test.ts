import { describe, expect, it } from 'vitest';
import { matchCost } from './backtracking.ts';

describe('the worst case of an expression', () => {
  it.each([
    // GPT-2, Llama 3, Qwen 2, GPT-4o, DeepSeek, and parts of other tokenizers.
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    "(?:'[sS]|'[tT])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?:'s|'t)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?:'s)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    '[!"#$%&()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+',
    ' {2,}',
    '[一-龥\\u3040-ゟ゠-ヿ]+',
    '\\d{1,3}(?=(?:\\d{3})*\\b)',
    '(?:<\\|[a-z]+\\|>)+$',
    '(a|b)*c',
    '(a+b)+$',
    '(?:ab|ac)*d',
    '(?:a{3}b)*$',
    '(a+)+', // complete at every turn
    'x(a|a)*',
  ])('is linear: %s', (source) => {
    expect(matchCost(new RegExp(source, 'gu'))).toBe('linear');
  });

  it.each([
    '(a+)+$',
    '(a|a)*$',
    '(a|aa)+$',
    '(\\w+\\s?)*$',
    '([a-z]+)*\\d',
    '(.*)*x',
    '(?=(a+)+$)',
    '(?<!(a*)*b)c',
    '(a*b*)*c',
    '((?:(?!x).)+)+$',
    '(?:a?){30}a{30}$|(?:(a?)+)+b',
    '(x+x+)+y',
    '(?:\\p{L}|[a-z])*!',
    '(\\p{L}+|\\s+|\\w)*$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(?:(?:ab)+|a(?:ba)+b)*c',
  ])('is exponential: %s', (source) => {
    expect(matchCost(new RegExp(source, 'u'))).toBe('exponential');
  });

  it.each(['a*a*b', '\\s*\\s+$', '.*.*=.*', '(?:a?){30}a{30}$', '(.*a){20}', '\\d+\\w*x', '(a*)\\1\\1b'])(
    'is more than linear: %s',
    (source) => {
      expect(['polynomial', 'exponential']).toContain(matchCost(new RegExp(source, 'u')));
    },
  );

  it('is found in little time', () => {
    const source = `(?:${Array.from({ length: 400 }, (_, index) => `w${index}+`).join('|')})*$`;
    const start = performance.now();
    expect(matchCost(new RegExp(source, 'u'))).not.toBe('linear');
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
