import { requireArguments } from '@rlp/core';
import { trimmed } from '../text.ts';

/** Which published rules {@link mathNormalForm} follows. */
export type MathNormalFormRules = 'hendrycks' | 'mathd' | 'minerva' | 'lm-eval';

/**
 * The text that a published grader compares instead of a LaTeX answer.
 *
 * - `hendrycks`: `_strip_string` of the MATH data set's authors. `null` where theirs raises (two units, a `\frac` or `\sqrt`
 *   without an argument): they then compare the raw texts.
 * - `mathd`: the same as PRM800K applies it, with an enclosing `\text{…}` removed first.
 * - `minerva`: `normalize_final_answer` of Minerva, as DAPO and verl use it.
 * - `lm-eval`: the same as lm_eval's task `minerva_math` (version 3.1) has it, which keeps the words within LaTeX commands.
 *
 * Linear in the text.
 *
 * @see https://github.com/hendrycks/math (MIT), https://github.com/openai/prm800k (MIT); Lewkowycz et al. 2022, appendix D.1,
 * https://arxiv.org/abs/2206.14858
 */
export function mathNormalForm(answer: string, rules: MathNormalFormRules): string | null {
  requireArguments('mathNormalForm', { answer: 'text', rules: 'text' }, answer, rules);
  if (rules === 'minerva') return minerva(answer);
  if (rules === 'lm-eval') return minervaOfLmEval(answer);
  if (rules === 'hendrycks') return stripped(answer);
  const raw = trimmed(answer);
  const inner = /^\\text\{([^\n]+)\}$/.exec(raw)?.[1];
  const text = inner === undefined ? raw : trimmed(inner);
  return stripped(text) ?? raw;
}

/** Whether two answers have the same {@link mathNormalForm}. If one has none, whether they are the same text. */
export function normalFormsAgree(given: string, expected: string, rules: MathNormalFormRules): boolean {
  requireArguments(
    'normalFormsAgree',
    { given: 'text', expected: 'text', rules: 'text' },
    given,
    expected,
    rules,
  );
  const [a, b] = [mathNormalForm(given, rules), mathNormalForm(expected, rules)];
  return a === null || b === null ? given === expected : a === b;
}

/** The rules of Hendrycks et al., in their order; `null` where their code raises. */
function stripped(answer: string): string | null {
  let text = answer.replaceAll('\n', '').replaceAll('\\!', '').replaceAll('\\\\', '\\');
  text = text.replaceAll('tfrac', 'frac').replaceAll('dfrac', 'frac');
  text = text.replaceAll('\\left', '').replaceAll('\\right', '');
  text = text.replaceAll('^{\\circ}', '').replaceAll('^\\circ', '').replaceAll('\\$', '');
  const parts = text.split('\\text{ ');
  if (parts.length > 2) return null;
  text = parts[0]!.replaceAll('\\%', '');
  text = text.replaceAll(' .', ' 0.').replaceAll('{.', '{0.');
  if (text === '') return text;
  if (text.startsWith('.')) text = `0${text}`;
  const sides = text.split('=');
  if (sides.length === 2 && sides[0]!.length <= 2) text = sides[1]!;
  const rooted = withBracedRoots(text);
  const braced = rooted === null ? null : withBracedFractions(rooted.replaceAll(' ', ''));
  if (braced === null) return null;
  return withSlashAsFraction(braced === '0.5' ? '\\frac{1}{2}' : braced);
}

/** `\sqrt3` → `\sqrt{3}`; `null` for a root of nothing. */
function withBracedRoots(text: string): string | null {
  const [before, ...rest] = text.split('\\sqrt');
  if (rest.includes('')) return null;
  return (
    before! + rest.map((part) => `\\sqrt${part[0] === '{' ? part : `{${part[0]}}${part.slice(1)}`}`).join('')
  );
}

/** `\frac12` → `\frac{1}{2}`, `\frac1{72}` → `\frac{1}{72}`; `null` for a fraction of nothing. */
function withBracedFractions(text: string): string | null {
  const [before, ...rest] = text.split('\\frac');
  if (rest.includes('')) return null;
  if (rest.some((part) => part[0] !== '{' && part.length < 2)) return text;
  return before! + rest.map((part) => `\\frac${withBraces(part)}`).join('');
}

function withBraces(part: string): string {
  if (part[0] === '{') return part;
  const denominator = part[1] === '{' ? '{' : `{${part[1]}}`;
  return `{${part[0]}}${denominator}${part.slice(2)}`;
}

/** `3/4` → `\frac{3}{4}`, where both are plain integers. */
function withSlashAsFraction(text: string): string {
  return text.replace(/^(-?(?:0|[1-9]\d*))\/(-?(?:0|[1-9]\d*))$/, (whole, above: string, below: string) =>
    above === '-0' || below === '-0' ? whole : `\\frac{${above}}{${below}}`,
  );
}

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
  'square ways integers dollars mph inches hours km units sue points feet minutes digits cents degrees cm gm pounds meters meals edges ' +
  'students childrentickets multiples'
).split(' ');
const marks: readonly string[] = [
  ...['\\ldots', '\\text{s}', '\\text{.}', '\\text{\ns}', '\\text{}^2', '\\text{}^3'],
  ...['\\text{\n}', '\\text{}', '\\mathrm{th}', '^\\circ', '^{\\circ}', '\\;', ',\\!', '{,}', '"', '\\dots'],
];

/** An answer with Minerva's replacements. */
function substituted(text: string): string {
  return substitutions.reduce((rest, [before, after]) => rest.replaceAll(before, after), text);
}

const without = (text: string, parts: readonly string[]) =>
  parts.reduce((rest, part) => rest.replaceAll(part, ''), text);

/** On each line, the formula between dollars, without text, bold type, overlines and boxes around it. */
function undecorated(text: string): string {
  const plain = ['text', 'textbf', 'overline'].reduce(
    (rest, command) => withoutCommand(rest, new RegExp(`\\\\${command}\\{([^}]*)\\}`, 'g')),
    withDollarsOnly(text),
  );
  return withoutCommand(plain, /\\boxed\{(.*)\}/s);
}

/** On each line up to its last brace, what the command holds. Linear, because what opens there is closed. */
const withoutCommand = (text: string, command: RegExp) =>
  text.replace(/(?<![^\n])[^\n]*\}/g, (line) => line.replace(command, '$1'));

function minerva(answer: string): string {
  const value = substituted(answer.slice(answer.lastIndexOf('=') + 1));
  const text = undecorated(without(without(value, words), marks))
    .replace(/(frac)([^{])(.)/g, 'frac{$2}{$3}')
    .replace(/(sqrt)([^{])/g, 'sqrt{$2}')
    .replaceAll('$', '');
  const digits = text.replaceAll(',', '');
  return trimmed(/^\d+$/.test(digits) ? digits : text);
}

const wordsOfLmEval = words.flatMap((word) => (word === 'inches' ? [word, 'ft'] : [word]));
const wholeWords = wordsOfLmEval.map(
  (word) => new RegExp(`(?<!\\\\)(?<![\\p{L}\\p{N}_])${word}(?![\\p{L}\\p{N}_])`, 'gu'),
);

function minervaOfLmEval(answer: string): string {
  const value = answer.slice(answer.lastIndexOf('=') + 1);
  // Odd parts are LaTeX commands, which stay as they are. Removing a word may make another command.
  const wordless = wordsOfLmEval.reduce(
    (rest, word) =>
      rest
        .split(/(\\[a-zA-Z]+)/)
        .map((part, place) => (place % 2 ? part : part.replaceAll(word, '')))
        .join(''),
    substituted(wholeWords.reduce((rest, word) => rest.replaceAll(word, ''), value)),
  );
  const text = undecorated(without(wordless, marks))
    .replace(/(frac)([^{])([^\n])/g, 'frac{$2}{$3}')
    .replace(/(sqrt)(\[[^\]]*\])([\p{L}\p{N}_])/gu, '$1$2{$3}')
    .replace(/(sqrt)(?!\[)([^{])/g, 'sqrt{$2}')
    .replaceAll('$', '');
  return /^-?\d{1,3}(?:,\d{3})+$/.test(text) ? text.replaceAll(',', '') : text;
}

/** On each line, `…$x$…` → `$x$`, by the line's first two dollar signs. */
const withDollarsOnly = (text: string) => text.replace(/(?<![^\n])[^$\n]*(\$[^$\n]*\$)[^\n]*/g, '$1');
