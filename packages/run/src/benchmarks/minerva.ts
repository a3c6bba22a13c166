/** The rules by which lm_eval's task `minerva_math` (version 3.1) prepares answers. */

const substitutions: readonly (readonly [string, string])[] = [
  ['an ', ''],
  ['a ', ''],
  ['.$', '$'],
  ['\\$', ''],
  ['\\ ', ''],
  [' ', ''],
  ['mbox', 'text'],
  [',\\text{and}', ','],
  ['\\text{and}', ','],
  ['\\text{m}', '\\text{}'],
];

const words: readonly string[] = (
  'square ways integers dollars mph inches ft hours km units sue points feet minutes digits cents degrees cm gm pounds ' +
  'meters meals edges students childrentickets multiples'
).split(' ');

const marks: readonly string[] = [
  ...[
    '\\ldots',
    '\\text{s}',
    '\\text{.}',
    '\\text{\ns}',
    '\\text{}^2',
    '\\text{}^3',
    '\\text{\n}',
    '\\text{}',
  ],
  ...['\\mathrm{th}', '^\\circ', '^{\\circ}', '\\;', ',\\!', '{,}', '"', '\\dots'],
];

const wholeWords = words.map(
  (word) => new RegExp(`(?<!\\\\)(?<![\\p{L}\\p{N}_])${word}(?![\\p{L}\\p{N}_])`, 'gu'),
);

/** What follows "Final Answer: The final answer is", or nothing. */
export function minervaAnswer(response: string): string | undefined {
  const opening = 'Final Answer: The final answer is';
  const closing = ' I hope it is correct';
  for (const line of `${response}I hope it is correct.`.split('\n')) {
    const start = line.indexOf(opening);
    if (start < 0) continue;
    // One character, the full stop, stands before the closing, and one after it.
    const end = line.indexOf(closing, start + opening.length + 1);
    if (end >= 0 && end + closing.length < line.length)
      return line.slice(start + opening.length, end - 1).trim();
  }
  return undefined;
}

/**
 * An answer as lm_eval compares it.
 *
 * @see Lewkowycz et al. 2022, appendix D.1, https://arxiv.org/abs/2206.14858; the rules are those of lm_eval (MIT)
 */
export function minervaForm(answer: string): string {
  let text = answer.slice(answer.lastIndexOf('=') + 1);
  for (const word of wholeWords) text = text.replaceAll(word, '');
  for (const [before, after] of substitutions) text = text.replaceAll(before, after);
  for (const word of words) {
    // Odd parts are LaTeX commands, which stay as they are.
    const parts = text.split(/(\\[a-zA-Z]+)/);
    text = parts.map((part, place) => (place % 2 ? part : part.replaceAll(word, ''))).join('');
  }
  for (const mark of marks) text = text.replaceAll(mark, '');
  text = text.split('\n').map(withoutDecoration).join('\n');
  text = text
    .replace(/(frac)([^{])([^\n])/g, 'frac{$2}{$3}')
    .replace(/(sqrt)(\[[^\]]*\])([\p{L}\p{N}_])/gu, '$1$2{$3}')
    .replace(/(sqrt)(?!\[)([^{])/g, 'sqrt{$2}')
    .replaceAll('$', '');
  return /^-?\d{1,3}(?:,\d{3})+$/.test(text) ? text.replaceAll(',', '') : text;
}

/** A line without what surrounds its formula, and without bold, text, overline and boxes. */
function withoutDecoration(line: string): string {
  const open = line.indexOf('$');
  const close = open < 0 ? -1 : line.indexOf('$', open + 1);
  return (close < 0 ? line : line.slice(open, close + 1))
    .replaceAll(/\\text\{(.*?)\}/g, '$1')
    .replaceAll(/\\textbf\{(.*?)\}/g, '$1')
    .replaceAll(/\\overline\{(.*?)\}/g, '$1')
    .replaceAll(/\\boxed\{(.*)\}/g, '$1');
}
