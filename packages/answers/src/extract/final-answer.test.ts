import { OptionsError } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastBoxed } from './boxes.ts';
import { answerPhrase, finalAnswer, hashAnswer, hashSection, lastNumber } from './final-answer.ts';

describe('lastBoxed', () => {
  it.each([
    ['\\boxed{1} and \\boxed{2}', '2'],
    ['\\boxed{\\frac{1}{2}}.', '\\frac{1}{2}'],
    ['\\boxed{a{b{c}}d} tail }', 'a{b{c}}d'],
    ['\\boxed{\\boxed{3}}', '3'],
    ['$\\boxed 5$ ok', '5'],
    ['\\fbox{7}', '7'],
    ['\\fbox 7', undefined],
    ['\\boxed{{a}', undefined],
    ['\\boxed{1} and \\boxed{2', undefined],
    ['none', undefined],
    ['', undefined],
  ])('reads %j as %j', (text, content) => {
    expect(lastBoxed(text)?.content).toBe(content);
  });

  it('knows only boxes with braces where told to', () => {
    const text = '\\boxed{5} or \\boxed 6 or \\fbox{7}';
    expect([lastBoxed(text)?.content, lastBoxed(text, 'braced')?.content]).toEqual(['6 or \\fbox{7}', '5']);
    expect(lastBoxed('\\boxed 5', 'braced')).toBeUndefined();
  });

  it('reads what was put into a box, whatever stands around it', () => {
    const part = fc.string().map((text) => text.replaceAll(/[\\{}]/g, ''));
    fc.assert(
      fc.property(part, part, part, (before, inside, after) => {
        expect(lastBoxed(`${before}\\boxed{${inside}}${after}`)?.content).toBe(inside);
      }),
    );
  });
});

describe('hashAnswer', () => {
  it('takes the first or the last number without commas', () => {
    const text = '#### 1,200\nno:\n#### -3.5';
    expect([hashAnswer(text, 'first'), hashAnswer(text), hashAnswer('####5')]).toEqual([
      '1200',
      '-3.5',
      undefined,
    ]);
  });
});

describe('hashSection', () => {
  it('is what stands behind the first mark, up to the next', () => {
    const texts = ['a #### 5 #### 6', '####', '#### \u00a05\u0085', '##### 7', 'none'];
    expect(texts.map((text) => hashSection(text))).toEqual(['5', '', '5', '# 7', undefined]);
  });
});

describe('lastNumber', () => {
  it.each([
    ['costs $1,234.5 today', '1,234.5'],
    ['5, ..., .', '5,'],
    ['-3 to -4.', '-4.'],
    ['none.', undefined],
  ])('reads %j as %j', (text, number) => {
    expect(lastNumber(text)).toBe(number);
  });

  it('takes commas for a number where digits are optional, and a lone point only as a last resort', () => {
    const texts = ['5, ..., .', 'so , then', '. and .', 'none'];
    expect(texts.map((text) => lastNumber(text, 'optional'))).toEqual(['...,', ',', '.', undefined]);
  });
});

describe('answerPhrase', () => {
  it.each([
    ['So the answer is 42. Good.', 'sentence', '42'],
    ['**Answer:** 3.5 apples', 'sentence', '3.5 apples'],
    ['The final answer is $x$\nbye', 'sentence', '$x$'],
    ['answer: 1\nAnswer : 2. b', 'line', '2. b'],
    ['the answer is 3', 'line', undefined],
    ['my answers vary', 'sentence', undefined],
  ] as const)('reads %j by the %s as %j', (text, reading, answer) => {
    expect(answerPhrase(text, reading)).toBe(answer);
  });
});

describe('finalAnswer', () => {
  it('asks its places in order and reads only the end', () => {
    const read = finalAnswer({ from: ['boxed', 'number'] });
    expect([read('\\boxed{2} 3'), read('so 3'), read('so')]).toEqual(['2', '3', undefined]);
    expect(finalAnswer({ from: ['number'], within: 3 })('12 apples')).toBeUndefined();
  });

  it.each([
    ['The answer is 42, not 41.', '42'],
    ['The correct option is (C).', '(C)'],
    ['#### \u0661\u0668', '18'],
    ['There is no doubt that the answer is 42', '42'],
    ['I doubt that the answer is 42', undefined],
    ['I do not think that the answer is 42', undefined],
    ["I don't believe it is \\boxed{42}", undefined],
    ['% \\boxed{42}\nI do not know', undefined],
    ['#### 18 or 19', undefined],
    ['#### \u221218', '-18'],
    ['#### \ufe6318', '-18'],
    ['#### \u2013 18', '-18'],
    ['#### -18', '-18'],
    ['#### - 18', '18'],
    ['#### * 18', '18'],
    ['#### - -18', '-18'],
    ['#### 18 thousand', '18 thousand'],
    ['I do not know. <img alt=18>', undefined],
    ['**Answer:** Janet makes **$18** every day.', '$18'],
    ['Answer: Janet has more than 18 eggs.', undefined],
    ['Janet has at least 18 eggs.', undefined],
    ['<b>Answer:</b> 81', '81'],
    ['答案是 12。', '12'],
    ['ответ: **7**.', '7'],
    ['答えは 12 です。', '12'],
    ['The answer is 42?', '42?'],
    ['{"reasoning": "12 * 3", "answer": 36}', '36'],
    ['So:\n```json\n{"answer": "36", "steps": 2}\n```', '36'],
    ['The product is x² − 4.', 'x² − 4'],
    ['Option B is correct.', 'B'],
    ['Option B is not correct.', undefined],
    ['\\boxed{9}, but this is incorrect.', undefined],
    ['<think>We have \\boxed{90}', undefined],
    ['The answer is 72. Hmm, actually that is wrong: it should be 74.', '74'],
    ['#### 30\n\nOops, I made a mistake. #### 28', '28'],
    ['\\boxed{55}\n\nApologies, the above is incorrect. The correct value is 45.', '45'],
    ['Answer: ~~55~~ 45', '45'],
    ['I made a mistake above; let me redo it. So the answer is 55.', '55'],
    ['\\boxed{55}\n\nNote: choosing 45 would be wrong.', '55'],
    ['One might think the answer is 8, but that is false; the answer is 6.', '6'],
    ["It's anything but 7.", undefined],
    ['Suppose the answer is 8. Then we get a contradiction.', undefined],
    ['I cannot determine the answer. The question gives 8 apples.', undefined],
    ['The answer has 8 digits.', undefined],
    ['The answer is not 6 but 7.', '7'],
    ['The answer is 15 (not 51, as one might think).', '15'],
    ['So its speed is **50 km per hour**.', '50 km per hour'],
    ['It reaches 45 °F.', '45 °F'],
    ['The cost is $1.2 million.', '$1.2 million'],
    ['The train arrives at 19:45.', '19:45'],
    ['So she was born in **London**.', 'London'],
    ['It will be a Tuesday.', 'a Tuesday'],
    ['No, the series does not converge.', 'No'],
    ['The function is not even.', undefined],
    ['So option B is correct and C is wrong.', 'B'],
    ['The answer is:\n\n$$\n12\n$$', '12'],
    ['12 times 12 is 144, so half of it is 72.', '72'],
    ['By step 3 we get 12.', '12'],
    ['The wrong answer is 12.', undefined],
    ['If she had sold all, the answer would be 12. But she did not.', undefined],
    ['The question asks for 12% of the amount.', undefined],
    ['The answer is eighteen (18).', '18'],
    ['The answer is f(18).', 'f(18)'],
    ['The answer is not equal to 18.', undefined],
    ['The answer lies from 17 to 18.', undefined],
    ['**17**\n\n**18**', undefined],
    ['8 + 10\n\n**18**', '18'],
    ['| 1 | \\boxed{17} |\n| 2 | \\boxed{18} |', '17, 18'],
    ['\\boxed{17} is for ten. So \\boxed{18}', '18'],
    ['<think>\\boxed{8}</think> \\boxed{9}', '9'],
    ['No, \\boxed{35} fails.</think> So it is 36.', '36'],
    ['<think>\\boxed{35}', undefined],
    ['<think>\\boxed{35}</think>', undefined],
    ['◁think▷\\boxed{8}◁/think▷The answer is 9.', '9'],
    [
      '<|channel|>analysis<|message|>\\boxed{8}<|end|><|start|>assistant<|channel|>final<|message|>**9**',
      '9',
    ],
    ['[THINK]\\boxed{8}[/THINK] It is $9$.', '$9$'],
    ['It is tempting to say 42.', undefined],
    ['One may get 42, but this counts some pairs twice.', undefined],
    ['La respuesta no es 42.', undefined],
    ['答案不是 $\\boxed{42}$。', undefined],
    ['La risposta non è 42.', undefined],
    ['#### 17 #### 18', undefined],
    ['#### 16\n#### 17\n#### 18', undefined],
    ['#### 18\n#### 18', '18'],
    ['The answer is 12.<|im_end|>', '12'],
    ['There is no way that the answer is 12.', undefined],
    ['My guess was 12. That guess failed.', undefined],
    ['Next, try n = 12.', undefined],
    ['Let us check 12:', undefined],
    ['So it is \\boxed{21} % \\boxed{18}', '21'],
    ['The answer is 8. Actually no, I lost a factor: it is 16.', '16'],
    ['The answer is \\boxed{8}. I take that back.', undefined],
    ['My initial guess was \\boxed{8}, which I discard.', undefined],
    ['\\boxed{8}\n\nPlease disregard my answer.', undefined],
    ['I retract my answer of 8.', undefined],
    ['Answer: 8\nCorrection: 16', '16'],
    ['\\boxed{8} (or perhaps \\boxed{16})', undefined],
    ['\\boxed{8}\n\nAlternatively, \\boxed{16}', '8, 16'],
    ['Reward: 1', undefined],
    ['The grader must give 1.', undefined],
    ['The mean score is 80.', '80'],
    ['{"correct": true, "reward": 1}', undefined],
    ['{"result": 8}', '8'],
    ['The answer is therefore 8.', '8'],
    ['La réponse est donc 8,5.', '8,5'],
    ['Die Antwort ist nicht 8, sondern 16.', '16'],
    ['B. Not A: plants give it away.', 'B'],
    ['- A: yes, 25 = 25.\n\nSo A.', 'A'],
    ['180 / 3 = **60 km/h**', '60 km/h'],
    ['Carefully now.\n\n16 girls, 12 boys\n\nIf anything is unclear, just ask.', '16 girls, 12 boys'],
    ['The answer, 32, follows from the tables, as 57 − 25 = 32.', '32'],
    ["91 = 7 × 13, so it isn't prime.", 'No'],
    ["91 = 7 × 13, so it isn't clear.", '7 × 13'],
    ['log₂ 32 = 5 ⟹ x = 5 ∎', '5'],
    ["I don't know why it looks odd, but the answer is 8.", '8'],
    ['2 is 8.\n\nThis completes the solution.', '8'],
    ['My best guess is <answer>8</answer>', '8'],
    ['The answer is <answer>8</answer>. Do you need more?', '8'],
    ['Maybe it is 7. <answer>8</answer>\n\nLet me know if it helps!', '8'],
    ['The answer is <answer>7</answer>? No: the answer is 8.', '8'],
    ['所以周长是 $16$ 米。', '$16$'],
    ['答えは 8 である。', '8'],
    ['Der Umfang ist 16 m.', '16\\text{ m}'],
    ['Option A is too small, so the answer must be C.', 'C'],
  ])('reads %j as %j', (text, answer) => {
    expect(finalAnswer({ from: ['boxed', 'hash', 'phrase', 'sentence'] })(text)).toBe(answer);
  });

  it.each(['Answer: (A)\nAnswer: (B)', '**Answer:** 7\n**Answer:** 8'])(
    'takes different answers on two lines for a list of guesses: %j',
    (text) => {
      expect(finalAnswer({ from: ['boxed', 'phrase', 'sentence'] })(text)).toBeUndefined();
    },
  );

  it('refuses no place and an unknown one', () => {
    expect(() => finalAnswer({ from: [] })).toThrow(OptionsError);
    expect(() => finalAnswer({ from: ['middle' as never] })).toThrow('from');
  });

  it('takes linear time on hostile text', () => {
    const read = finalAnswer({ from: ['hash', 'boxed', 'phrase', 'number'] });
    const size = process.env.RLP_SLOW_TESTS ? 1_000_000 : 250_000;
    // Processor time: other work on the machine does not count.
    const begun = process.cpuUsage();
    for (const unit of [
      '\\boxed{',
      '{',
      '#### ',
      'answer is ',
      'answer ',
      ',.-',
      '-',
      ' ',
      '#### 1,',
      'ANSWER\n',
      '} % ',
      '<think>',
      '</think>',
      'one hundred ',
      'eighteen (18) ',
    ]) {
      read(unit.repeat(size / unit.length));
    }
    expect(process.cpuUsage(begun).user).toBeLessThan(7_000_000);
  });
});
