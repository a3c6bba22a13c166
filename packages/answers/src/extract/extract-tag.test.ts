import { describe, expect, it } from 'vitest';
import { extractTag } from './extract-tag.ts';

describe('extractTag', () => {
  it.each([
    ['<answer>42</answer>', '42'],
    ['so <answer> 4\n2 </answer> it is', '4\n2'],
    ['<answer>1</answer><answer>2</answer>', '2'],
    ['<answer><answer>3</answer>', '3'],
    ['<answer></answer>', ''],
    ['<answer>42', undefined],
    ['42</answer>', undefined],
    ['</answer>42<answer>', undefined],
    ['<Answer>42</Answer>', undefined],
    ['', undefined],
  ])('reads %j as %j', (text, expected) => {
    expect(extractTag('answer')(text)).toBe(expected);
  });

  it('refuses a tag with brackets', () => {
    expect(() => extractTag('<answer>')).toThrow('without brackets, got "<answer>"');
  });

  it('takes linear time on hostile text', () => {
    const hostile = '<answer>'.repeat(200_000);
    expect(extractTag('answer')(hostile)).toBeUndefined();
    expect(extractTag('answer')(`${hostile}</answer>`)).toBe('');
  });
});
