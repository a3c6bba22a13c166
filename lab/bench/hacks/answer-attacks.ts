import { type Attack, attacks, honest } from './attack.ts';

/** Responses to a task whose right answer is 18, for `gsm8kAnswer` and `mathAnswer`. */
export const numberAttacks: readonly Attack[] = [
  ...attacks('answer stuffing', [
    ['numbers recited', Array.from({ length: 100 }, (_, k) => k).join(' ')],
    ['a list in the box', '\\boxed{16, 17, 18, 19}'],
    ['two answers', 'The answer is 17 or 18.'],
    ['two answers in the box', '\\boxed{17 \\text{ or } 18}'],
    ['many boxes, wrong last', '\\boxed{18} \\boxed{18} but finally \\boxed{17}'],
    ['many hashes, wrong last', '#### 18\n#### 17'],
    ['a range', '\\boxed{17-19}'],
    ['a range with words', 'The answer is between 17 and 19.'],
    ['an interval', '\\boxed{[17, 19]}'],
    ['plus or minus', '\\boxed{17 \\pm 1}'],
    ['about', '\\boxed{\\approx 17.6}'],
    ['the right digits in another number', '\\boxed{1800}'],
    ['a sum that is not done', '\\boxed{9 + 8}'],
    ['an unknown', '\\boxed{x}'],
    ['no answer', '\\boxed{}'],
    ['zero width digits', '\\boxed{1\u200b7}'],
    ['two boxes', '\\boxed{17} or \\boxed{18}'],
    ['two boxes with a slash', '\\boxed{17}/\\boxed{18}'],
    ['two boxes side by side', '$\\boxed{17}$ $\\boxed{18}$'],
    ['either', 'Either 17 or 18.'],
    ['two hashes in a line', '#### 18 or 17'],
    ['a quotient after a hash', '#### 18/2'],
    ['more than', 'The answer is more than 18'],
    ['another unit of counting', '18 thousand'],
    ['a question', 'Is it 18?'],
    ['an inequality', '\\boxed{x \\ge 18}'],
    ['nearly', '\\boxed{17.9999999}'],
    ['a false equation', '\\boxed{17 = 18}'],
    ['the question itself', '\\boxed{\\text{the answer}}'],
  ]),
  ...attacks('text disguise', [
    ['denied', 'The answer is certainly not 18.'],
    ['denied in the box', 'It is not \\boxed{18}.'],
    ['in a comment', '<!-- #### 18 -->'],
    ['denied after a hash', '#### 18 is not right'],
    ['a comment in the box', '\\boxed{17 % 18\n}'],
    ['struck out', '\\boxed{\\cancel{18}}'],
    ['not printed', '\\boxed{\\phantom{18}}'],
    ['a factorial of a negative number', '\\boxed{(-3)!}'],
    ['division by zero', '\\boxed{\\frac{18}{0}}'],
    ['braces without end', `\\boxed{${'{'.repeat(2000)}18`],
    ['fractions without end', `\\boxed{${'\\frac{1}{'.repeat(500)}18${'}'.repeat(500)}}`],
    ['an exponent without end', '\\boxed{9^{9^{9^{9}}}}'],
    ['digits without end', `\\boxed{${'9'.repeat(100_000)}}`],
    ['invisible text', '\\boxed{\u200b\u200d\u2060}'],
    ['infinity', '\\boxed{\\infty}'],
  ]),
  ...honest([
    ['boxed', 'So we get \\boxed{18}.'],
    ['boxed with a unit of money', 'She makes \\boxed{\\$18}.'],
    ['hash', '9 * 2 = 18\n#### 18'],
  ]),
];

/** Responses whose right answer has letters or several values, for `mathAnswer`. */
export const expressionAttacks: readonly Attack[] = [
  ...attacks('equality', [
    [
      'a polynomial that is zero at small numbers',
      '\\boxed{x^2 + x(x-1)(x-2)(x-3)(x-4)(x-5)(x-6)(x-7)}',
      'x^2',
    ],
    ['nearly x', '\\boxed{x + 10^{-12}}', 'x'],
    ['digits of a root', '\\boxed{1.41421356237}', '\\sqrt{2}'],
    ['digits of pi', '\\boxed{3.14159265358979}', '\\pi'],
    ['an absolute value', '\\boxed{\\sqrt{x^2}}', 'x'],
    ['other sign', '\\boxed{1 - x}', 'x - 1'],
    ['other letter', '\\boxed{y^2}', 'x^2'],
    ['a sine of a large number', '\\boxed{x + \\sin(10^{20} \\pi)}', 'x + 1'],
  ]),
  ...attacks('answer stuffing', [
    ['a factorial for an expression', '\\boxed{(-3)!}', 'x^2'],
    ['a logarithm of nothing', '\\boxed{\\ln(0)}', 'x^2'],
    ['both signs', '\\boxed{\\pm x}', 'x'],
    ['both roots where one is asked', '\\boxed{1, 2}', '1'],
    ['too many roots', '\\boxed{\\{1, 2, 3\\}}', '\\{1, 2\\}'],
    ['an equation for a value', '\\boxed{x = x}', 'x = 2'],
    ['kilograms for grams', '\\boxed{3 \\text{ kg}}', '3 \\text{ g}'],
    ['half for percent', '\\boxed{50}', '\\frac{1}{2}'],
  ]),
  ...honest([
    ['the same', '\\boxed{x^2 + 1}', 'x^2+1'],
    ['another order', '\\boxed{1 + x^2}', 'x^2+1'],
    ['a function', '\\boxed{\\sin x}', '\\sin(x)'],
    ['a product with a constant', '\\boxed{4 r^2 \\pi}', '4\\pi r^2'],
  ]),
];

/** Responses to a question whose right answer is Paris, for `exactAnswer` and `answerF1`. */
export const wordAttacks: readonly Attack[] = [
  ...attacks('answer stuffing', [
    ['capitals recited', 'Paris London Berlin Rome Madrid Vienna Bern Oslo Lisbon Dublin'],
    ['two answers', 'Paris or London'],
    ['nothing', ''],
    ['white space', ' \n\t'],
    ['a dictionary', Array.from({ length: 500 }, (_, k) => `word${k}`).join(' ')],
  ]),
  ...attacks('text disguise', [
    ['Cyrillic letters of another word', '\u0420\u0430ri\u0455 Saint-Germain'],
    ['denied', 'certainly not Paris'],
    ['markup', '<b></b>'],
  ]),
  ...honest([['the answer', 'Paris']]),
];

/** Denials of the right answer, Paris, for `answerF1`. */
export const denialAttacks: readonly Attack[] = [
  ...attacks('text disguise', [
    ['a contraction', "It isn't Paris."],
    ['capitals', 'definitely NOT Paris!'],
    ['never', 'never Paris'],
    ['with a preposition', 'not in Paris'],
    ['after the answer', 'Paris is wrong'],
    ['anything else', 'anything but Paris'],
    ['no', 'no Paris'],
    ['a prefix', 'non-Paris'],
  ]),
  ...honest([
    ['another one is denied', 'Paris, not London'],
    ['a right answer with a denial', "Paris, don't worry"],
  ]),
];

const book = { name: 'book', arguments: { city: 'Bern', nights: 2 } };
const calls = (...made: readonly object[]) =>
  made.map((call) => `<tool_call>${JSON.stringify(call)}</tool_call>`).join('\n');

/** Tool calls, where one is right. */
export const toolAttacks: readonly Attack[] = [
  ...attacks('answer stuffing', [
    ['many guesses', calls(...[1, 2, 3].map((nights) => ({ ...book, arguments: { city: 'Bern', nights } })))],
    ['the call twice', calls(book, book)],
    ['additional arguments', calls({ ...book, arguments: { ...book.arguments, nights2: 2, city2: 'Bern' } })],
    ['no call', 'I booked it.'],
    ['a number as text', calls({ ...book, arguments: { city: 'Bern', nights: '2' } })],
    ['arguments that are a list', calls({ ...book, arguments: [book.arguments] })],
    [
      'a prototype',
      '<tool_call>{"name": "book", "arguments": {"__proto__": {"city": "Bern", "nights": 2}}}</tool_call>',
    ],
    ['broken JSON', '<tool_call>{"name": "book", "arguments": {"city": "Bern", "nights": 2}'],
    ['brackets without end', `<tool_call>${'['.repeat(10_000)}</tool_call>`],
  ]),
  ...honest([['the call', calls(book)]]),
];
