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

  it.each([
    ['<answer>1</answer>', '1'],
    ['<answer>1</answer> Once more: <answer> 1 </answer>', '1'],
    ['<answer>1</answer><answer>2</answer>', undefined],
    ['<answer>2</answer>\nIt is not <answer>1</answer>.', undefined],
    ['<think>Maybe <answer>1</answer>?</think><answer>2</answer>', '2'],
    ['Maybe <answer>1</answer>?</think><answer>2</answer>', '2'],
    ['<think><answer>1</answer></think>', undefined],
    ['<answer>1<answer>2</answer></answer>', undefined],
    ['I write it between <answer> tags: <answer>1</answer>', '1'],
    ['I write it between <Answer> tags: <answer>1</answer>', '1'],
    ['<ANSWER>1</ANSWER> <answer id="a">1</answer> <answer>1</answer>', '1'],
    ['<ANSWER>1</ANSWER><answer>2</answer>', undefined],
    ['<answer>1 <Answer>2</Answer></answer>', undefined],
    ['<Answer>1</Answer>', undefined],
    ['<answer id="1">1</answer><answer>2</answer>', undefined],
    ['<answer>1</answer> <ANSWER>2', undefined],
    ['<answer>1</answer>\n<answer> 2', undefined],
    ['<answer>1</answer> <answer id="b">in fact 2', undefined],
    ['<answer>1</answer><Answer>1', '1'],
    ['<answer>1</answer>\n<answer>"2"', undefined],
    ['<answer>1</answer><answer>tag 2', undefined],
    ['<answer>1</answer>. I put it in <answer> as asked.', '1'],
    ['<answer>1</answer> (inside the <answer> block)', '1'],
    ['<answer>1</answer> Format: **<answer>**', '1'],
    ['<answer>1</answer> stands in `<Answer>` tags, or <answer> tags.', '1'],
    ['<dialog><answer>1</answer></dialog>', undefined],
    ['<answer><dialog>1</dialog></answer>', '<dialog>1</dialog>'],
    ['My best guess is <answer>1</answer>', '1'],
    ['So it is not 2 but <answer>1</answer>', '1'],
    ['<reasoning>Not 2.</reasoning><answer>1</answer> Does that help?', '1'],
    ['The answer is not <answer>1</answer>.', undefined],
    ['The wrong answer: <answer>1</answer>', undefined],
    ['The wrong answer: 2. The right one: <answer>1</answer>', '1'],
    ['~~<answer>1</answer>~~ 2', undefined],
    ['<s><answer>1</answer></s><answer>2</answer>', '2'],
    ['<answer>1</answer> Wait, no. 2.', undefined],
    ['Could it be <answer>1</answer>? I cannot tell.', undefined],
    ['My neighbour would say <answer>1</answer>, but I say 2.', undefined],
    ['<answer>1</answer> No, that is wrong. It is 2.', undefined],
    ['```\n<answer>1</answer>\n```\nI refuse to answer.', undefined],
    ["```\n<answer>1</answer>\n```\nI don't know the number of legs.", undefined],
    ['It is not <answer>1</answer> as such. So: <answer>1</answer>', '1'],
    ['none', undefined],
  ])('where several must agree, reads %j as %j', (text, expected) => {
    expect(extractTag('answer', 'agreeing')(text)).toBe(expected);
  });

  it('refuses a tag with brackets', () => {
    expect(() => extractTag('<answer>')).toThrow(
      'tag: must be letters, digits, "_" and "-", without brackets',
    );
  });

  it('takes linear time on hostile text', () => {
    expect(extractTag('answer', 'agreeing')('not <answer>1</answer>'.repeat(20_000))).toBeUndefined();
    const hostile = '<answer>'.repeat(100_000);
    expect(extractTag('answer')(hostile)).toBeUndefined();
    expect(extractTag('answer')(`${hostile}</answer>`)).toBe('');
    expect(extractTag('answer', 'agreeing')('<answer></answer>'.repeat(50_000))).toBe('');
  });
});

it.each([
  ['According to the Pythagorean theorem the answer is <answer>5</answer>', '5'],
  ['According to the map, the capital is <answer>Paris</answer>.', 'Paris'],
  ["The statement isn't true: <answer>false</answer>", 'false'],
  ['<answer>unknown</answer> I cannot answer this.', 'unknown'],
  ['<answer>unanswerable</answer> The text does not say it.', 'unanswerable'],
  ['<answer>Paris</answer>\nMy first attempt was wrong, so I corrected it.', 'Paris'],
  ['<solution>It is not 3 because</solution> <answer>4</answer>', '4'],
  ['Let us assume that x is 2 <answer>4</answer>', '4'],
  ['The question asks who said it: <answer>Kant</answer>', 'Kant'],
  ["John's answer is <answer>12</answer>", '12'],
  ["Anna's guess: <answer>Paris</answer>", 'Paris'],
  ['It is not <answer>Paris</answer>.', undefined],
  ['Is it <answer>Paris</answer>?', undefined],
  ['<answer>Paris</answer> I cannot answer this.', undefined],
  ['<answer>Paris</answer> No, wait, that is wrong.', undefined],
  ['<answer>Paris</answer> Or maybe Lyon.', undefined],
  ['<answer>Paris</answer> Alternatively, Lyon.', undefined],
  ['<answer>Paris</answer> or Lyon.', undefined],
  ['<answer>18</answer>, or nineteen.', undefined],
  ['<answer>1000</answer> Or 1.000.', '1000'],
  ['<answer>Paris</answer> Or, in other words, the capital.', 'Paris'],
  ['<answer>B</answer>\n\nAlternatively, one can eliminate A, C and D.', 'B'],
  ['<answer>18</answer>\n\nAlternatively, you can compute 36 / 2 = 18.', '18'],
  ['<answer>18</answer> (or 18.0).', '18'],
  ['<answer>5 km</answer> or 5000 m', '5 km'],
  ['<answer>18</answer>. If not, please let me know.', '18'],
  ['<answer>NaCl</answer>\nAlternatively known as table salt.', 'NaCl'],
] as const)('reads the sentence around a pair: %s', (text, answer) => {
  expect(extractTag('answer', 'agreeing')(text)).toBe(answer);
});
