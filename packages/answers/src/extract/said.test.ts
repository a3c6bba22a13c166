import { describe, expect, it } from 'vitest';
import { mathAnswersAgree } from '../equal/math-equivalence.ts';
import { finalAnswer } from './final-answer.ts';
import { valuesIn } from './values.ts';

const read = finalAnswer({ from: ['boxed', 'hash', 'phrase', 'sentence'] });

describe('the values of a sentence', () => {
  it.each([
    ['Therefore x = 3 and y = 4.', ['x = 3', 'y = 4']],
    ['She pays 20 * $3 = $60 to make 4 liters.', ['$60', '4 liters']],
    ['It takes 2 hours and 30 minutes.', ['2 hours and 30 minutes', '30 minutes']],
    ['So $a + b = 4 + 1 = 5$ for $c$.', ['5']],
    ['The lines meet at (3, −2).', ['(3, −2)']],
    ['200 km / 3 h ≈ 67 km/h', ['200 km', '3\\text{ h}', '67 km/h']],
    ['In radians, θ = π/6.', ['π/6']],
    ['A rope of 75mm costs R$ 45,00.', ['75mm', '$45.00']],
    ['We compute 12 × 8 =', ['12']],
    ['I am a man.', []],
  ])('%j are %j', (sentence, answers) => {
    expect(valuesIn(sentence).map(({ answer }) => answer)).toEqual(answers);
  });
});

describe('a sentence with several values', () => {
  it.each([
    ['12 × 8 = 96.\n96 × 5 = 480.\n\nSo in 5 days the bakery bakes 480 rolls on 12 trays.', '480'],
    ['6 × 7 = 42\n\nEn total hay 42 huevos en las 7 cajas.', '42'],
    ['6 × 7 = 42\n\nIl y a donc 42 œufs dans les 7 boîtes.', '42'],
    ['So she takes 120/24 = 5 hours to read 120 pages.', '5 hours'],
    ['Therefore x = 3 and y = 4.', 'x = 3, y = 4'],
    ['There are $14$ such primes: 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, and 43.', '14'],
    ['There are C(8,3) = 56 ways to choose 3 of them.', '56'],
    ['The probability is (4/9)·(3/8) = 12/72 = 1/6, or about 16.7%.', '1/6'],
    ['Las raíces son 3 y 5.', '3, 5'],
    ['I believe the mean is 14.\n\nWait. The list has 6 entries. 70 / 5 = 14, so 70 / 6 ≈ 11.67.', '11.67'],
    ['In the end 7 of the 12 seats remain free.', '7'],
    ['$$\\lim_{x\\to 0} \\frac{\\sin 3x}{x} = 3$$', '3'],
    ['The statement is false: take n = 4.', 'false'],
    ['The temperature is minus 18 degrees.', '-18'],
    ['The ratio of boys to girls is 3 : 5.', '3 : 5'],
    ['So the number is 6. Indeed, 6 · 7 = 42, as the problem says.', '6'],
    ['The only solutions are $f(x)=0$ and $f(x)=x$.', '$f(x)=0$ and $f(x)=x$'],
    ['(A) is too small and (B) is too large, so it must be (C).', '(C)'],
    ['The ball hits the ground at 20 m/s, or 72 km/h.', '72 km/h'],
    ['The trip takes 90 minutes (1.5 hours).', '1.5 h'],
    ['The probability is $\\frac12$, or 50%.', '0.5'],
    ['She arrives at 5:30 and leaves two hours later, at 7:30.', '7:30'],
    ['The company must sell at least 2,400 units to break even.', '2400'],
    ['E = ½ C V² = **4.9 mJ**', '4.9 mJ'],
    ['**Solution:** $a = F/m = 2.5$ m/s²', '2.5'],
    ['100 = 14·7 + 2, so the day moves on by two, from Sunday to **Tuesday**.', 'Tuesday'],
    ['THE 9 BOXES HOLD 54 APPLES.\nTHE TOTAL IS 54.', '54'],
  ])('%j says %j', (text, answer) => {
    expect(mathAnswersAgree(read(text) ?? '', answer)).toBe(true);
  });
});

it('reads one value that is said twice in one unit once', () => {
  expect(read('The road is 30 km long, that is, it is 30 km.')).toMatch(/^30\D*$/);
});

describe('a value that is not the last word', () => {
  it.each([
    'Next we add 24 and',
    'Peut-être 12.',
    'Quizás la respuesta sea 12.',
    '可能是 12。',
    'La respuesta es 12. Perdón, me equivoqué: es 15.',
    'Die Antwort ist 12. Moment, das stimmt nicht. Richtig ist 15.',
    "The answer is 12.\n\nHmm, that doesn't look right. Let me recompute: 3 × 5 = 15.",
    '\\boxed{12}\n\nOn reflection this is not correct.',
    '> The answer is 12.\n\nThat is what the forum says. I get 11 instead.',
    'The prompt says "The answer is 12" and I do not know.',
    'The side is 12.\n\nLet me think about how to proceed.',
    'So the area is 12. The perimeter, which is what we want, is not determined.',
    'According to the textbook it is 12.',
    '12 would be too small.',
    'It depends: 12 for boys, 13 for girls.',
    'It took me 12 minutes to solve this.',
    'I made 12 attempts, and none worked.',
    'After 12 tries I am giving up.',
    'To solve this, we would divide the total by 12.',
    'There are 12 outcomes, 6 of which sum to seven.',
    'Of the 12 pupils, the problem does not say how many sing.',
    'She has 12 marbles. How many does he have? I do not have this information.',
    'Step 1: Divide 16 by 2.\nStep 2: Add 12',
  ])('is not read in %j', (text) => {
    expect(mathAnswersAgree(read(text) ?? '', '12')).toBe(false);
  });
});
