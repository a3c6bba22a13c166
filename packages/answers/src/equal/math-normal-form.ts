import { trimmed } from '../text.ts';

/** Which published rules {@link mathNormalForm} follows. */
export type MathNormalFormRules = 'hendrycks' | 'mathd' | 'minerva';

/**
 * The text that a published grader compares instead of a LaTeX answer.
 *
 * - `hendrycks`: `_strip_string` of the MATH data set's authors. `null` where theirs raises (two units, a `\frac` or `\sqrt`
 *   without an argument): they then compare the raw texts.
 * - `mathd`: the same as PRM800K applies it, with an enclosing `\text{…}` removed first.
 * - `minerva`: `normalize_final_answer` of Minerva, as DAPO and verl use it.
 *
 * Linear in the text.
 *
 * @see https://github.com/hendrycks/math (MIT), https://github.com/openai/prm800k (MIT); Lewkowycz et al. 2022, appendix D.1,
 * https://arxiv.org/abs/2206.14858
 */
export function mathNormalForm(answer: string, rules: MathNormalFormRules): string | null {
  if (rules === 'minerva') return minerva(answer);
  if (rules === 'hendrycks') return stripped(answer);
  const raw = trimmed(answer);
  const inner = /^\\text\{([^\n]+)\}$/.exec(raw)?.[1];
  const text = inner === undefined ? raw : trimmed(inner);
  return stripped(text) ?? raw;
}

/** Whether two answers have the same {@link mathNormalForm}. If one has none, whether they are the same text. */
export function normalFormsAgree(given: string, expected: string, rules: MathNormalFormRules): boolean {
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

const removed: readonly string[] = [
  ...['square', 'ways', 'integers', 'dollars', 'mph', 'inches', 'hours', 'km', 'units', '\\ldots', 'sue'],
  ...['points', 'feet', 'minutes', 'digits', 'cents', 'degrees', 'cm', 'gm', 'pounds', 'meters', 'meals'],
  ...['edges', 'students', 'childrentickets', 'multiples', '\\text{s}', '\\text{.}', '\\text{\ns}'],
  ...['\\text{}^2', '\\text{}^3', '\\text{\n}', '\\text{}', '\\mathrm{th}', '^\\circ', '^{\\circ}', '\\;'],
  ...[',\\!', '{,}', '"', '\\dots'],
];

function minerva(answer: string): string {
  let text = answer.slice(answer.lastIndexOf('=') + 1);
  for (const [before, after] of substitutions) text = text.replaceAll(before, after);
  for (const expression of removed) text = text.replaceAll(expression, '');
  text = withDollarsOnly(text);
  for (const command of ['\\text{', '\\textbf{', '\\overline{'])
    text = withoutCommand(text, command, 'first');
  text = withoutCommand(text, '\\boxed{', 'last');
  text = text.replace(/(frac)([^{])(.)/g, 'frac{$2}{$3}').replace(/(sqrt)([^{])/g, 'sqrt{$2}');
  text = text.replaceAll('$', '');
  const digits = text.replaceAll(',', '');
  return trimmed(/^\d+$/.test(digits) ? digits : text);
}

/** On each line, `…$x$…` → `$x$`, by the line's first two dollar signs. */
function withDollarsOnly(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const open = line.indexOf('$');
      const close = open < 0 ? -1 : line.indexOf('$', open + 1);
      return close < 0 ? line : line.slice(open, close + 1);
    })
    .join('\n');
}

/** On each line, `\text{x}` → `x`: up to the first brace that closes, or (once) up to the last one. */
function withoutCommand(text: string, command: string, close: 'first' | 'last'): string {
  return text
    .split('\n')
    .map((line) => {
      const kept: string[] = [];
      let at = 0;
      for (;;) {
        const open = line.indexOf(command, at);
        const end =
          open < 0
            ? -1
            : close === 'first'
              ? line.indexOf('}', open + command.length)
              : line.lastIndexOf('}');
        if (open < 0 || end < open + command.length) break;
        kept.push(line.slice(at, open), line.slice(open + command.length, end));
        at = end + 1;
      }
      return kept.join('') + line.slice(at);
    })
    .join('\n');
}
