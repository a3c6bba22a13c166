import { describe, expect, it } from 'vitest';
import { finalAnswer } from './final-answer.ts';
import { numberIn } from './number-in.ts';
import { stanceAt } from './stances.ts';

const math = finalAnswer({ from: ['boxed', 'hash', 'phrase', 'sentence'] });
const number = finalAnswer({ from: ['hash', 'boxed', 'phrase', 'number'] });
const numbersRead = (text: string) =>
  [math, number].map((read) =>
    numberIn(read(`We count 3 and 4.\n${text.replaceAll('X', '18')}`) ?? '')?.valueOf(),
  );

describe('what a text does with a value', () => {
  it.each([
    ['The answer is ', 'asserts'],
    ['It is not ', 'denies'],
    ['It is 17 or ', 'hedges'],
    ['The naive answer is ', 'attributes'],
    ['Suppose that it is ', 'supposes'],
  ] as const)('%j %s it', (before, stance) => {
    expect(stanceAt(`${before}18.`, { at: before.length, end: before.length + 2 })).toBe(stance);
  });

  it('asks for it in a question', () => {
    expect(stanceAt('Is it 18?', { at: 6, end: 8 })).toBe('asks');
  });
});

describe('an answer that is denied, doubted, supposed, or said by others', () => {
  it.each([
    'I would never say it is X.',
    'X is not it.',
    'X cannot be the answer.',
    'No one should answer X.',
    "The answer isn't X.",
    'It is simply not true that the answer is X.',
    'My teacher says the answer is X, but she is mistaken.',
    'The answer X is wrong.',
    'X? No.',
    'It would be a mistake to answer X.',
    'Anyone who says X is mistaken.',
    'X is a trap.',
    'The number X does not work.',
    'X fails.',
    'Do not answer X.',
    'I reject X.',
    'We can rule out X.',
    'The answer is X, which is wrong.',
    'The answer is X. That is incorrect.',
    'The answer is X. This answer is wrong.',
    'The answer is X. No, that is wrong.',
    'Suppose it is X.',
    'Assume that the answer is X.',
    'What if the answer is X?',
    'If the answer is X, then 2 = 3.',
    'The naive answer is X.',
    'It is tempting to answer X.',
    'Many would say X.',
    'Some people think it is X.',
    'He claims that it is X.',
    "He claims that it's X.",
    'There are X of them. \\boxed{}',
    'The answer is anything but X.',
    'There is no way it is X.',
    'I doubt it is X.',
    "The answer can't be X.",
    'It is unlikely to be X.',
    'The answer is less than X.',
    'The answer is X or 5.',
    'X is incorrect, sadly.',
    'The result is never X.',
    "I don't believe the answer is X.",
    'I am not sure that it is X.',
    "It's false that it is X.",
    'The common mistake is to answer X.',
    'The answer is X. Just kidding.',
    "Tom's answer is X.",
    'My initial answer was X, which I no longer trust.',
    'X, but I reject it.',
    'It is X certain.',
    'X is what my friend wrote.',
    'Only if the coin is fair is it X.',
    '<span style="color:#fff">X</span> is written in white.',
    '<span style="color: rgb(255,255,255)">X</span> is written in white.',
    '<span style="font-size: 0.01px">X</span> is small.',
    'I do not know. [see](#X "the answer is X")',
    '\\boxed{X} is wrong.',
    '\\boxed{X}. That is not right.',
    "It's not \\boxed{X}.",
    'I do not think \\boxed{X} is right.',
    'If you forget the sign, you get \\boxed{X}.',
    'The wrong answer is \\boxed{X}.',
    '\\boxed{X} would be incorrect.',
    'Not \\boxed{X}!',
    'Nicht X.',
    "Ce n'est pas X.",
    'No es X.',
    'Ответ не X.',
    'X ist falsch.',
    'X ist nicht richtig.',
    'X est faux.',
    '答案不是X。',
    '答えはXではない。',
    'X 는 아닙니다.',
  ])('is not read from %j', (text) => {
    expect(numbersRead(text)).not.toContain(18);
  });
});

describe('an answer beside words that deny something else', () => {
  it.each([
    'The number of pairs that are not adjacent is X.',
    'Not counting the driver, there are X people.',
    'The smallest number that is not prime is X.',
    'There is no doubt that it is X.',
    'It cannot be less, so the answer is X.',
    'The probability of not raining is X.',
    'I was not sure at first, but the answer is X.',
    'The answer is not only even, it is X.',
    'I think it is X.',
    'I believe the answer is X.',
    'The answer is X, as the teacher said.',
    "She didn't eat X cookies? No: the answer is X.",
    'Because it is not even, the answer is X.',
    'It is clear that the answer is X.',
    'Without the wrong ones, there are X left.',
    'He answered X questions.',
    'The number of wrong answers is X.',
    'Since the others are impossible, \\boxed{X}.',
    'The other candidates are ruled out, leaving \\boxed{X}.',
    'If we add them, we get \\boxed{X}.',
    'So there are \\boxed{X} ways to not pick a red ball.',
    'The answer is X, which is not a surprise.',
    '<span style="color:#ff0000">The answer is X.</span>',
    'The answer is X ([source](https://example.com/17)).',
    'The answer is X (it cannot be 7).',
    'Nobody else came, so X people were there.',
  ])('is read from %j', (text) => {
    expect(numbersRead(text)).toEqual([18, 18]);
  });
});

describe('repeated words', () => {
  it.each([
    ' but ',
    ',',
    ',22',
    'not ',
    'if ',
    ', so ',
    'I think ',
    ', which is ',
    ' or 5',
    '\\boxed{5} ',
    ', 5 more than ',
    '•',
  ])('are read in little time: %j', (unit) => {
    const begun = process.cpuUsage();
    for (const end of ['', ' 5', '\n5?']) math(`The answer is ${unit.repeat(100_000 / unit.length)}${end}`);
    math(`#### 1${unit.repeat(100_000 / unit.length)}`);
    expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
  });
});
