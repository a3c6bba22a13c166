/** Commands that only set type: their argument is what counts. */
const typesetting = /\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox|boxed|fbox)\{([^{}]*)\}/g;

/** A unit on the right, such as `\text{ cm}^2` or `\mbox{ inches}`. */
const unit = /\\(?:text|mbox|mathrm)\{\s*([^{}]*)\}\s*(?:\^(?:\{?\d\}?))?$/;

const plain: readonly (readonly [RegExp, string])[] = [
  [/\\left|\\right|\\displaystyle|\\!|\\;|\\:|\\,|\\quad|\\qquad/g, ''],
  [/(?<!\\)\\ |~|\u00a0/g, ' '],
  [/\\[dt]frac/g, '\\frac'],
  [/\^\s?\{?\s?\\circ\s?\}?|\u00b0/g, ''],
  [/\\?[$%]/g, ''],
  [/\\cdot|\\times|\u00d7|\u00b7/g, '*'],
  [/\u2212|\u2013/g, '-'],
  [/\\pi\b|\u03c0/g, '\\pi '],
  [/\{,\}/g, ','],
];

const fractionArguments =
  /\\frac\s?([0-9a-zA-Z])\s?([0-9a-zA-Z])|\\frac\s?([0-9a-zA-Z])\s?\{|\\frac\s?\{([^{}]*)\}\s?([0-9a-zA-Z])/g;

/** Longer answers are compared as they are written. */
export const maximumAnswerLength = 2000;

/**
 * An answer without what does not change its meaning: spacing, dollar signs, percent and degree signs, sizes, type, an
 * enclosing box, a unit on the right, a full stop after it. Fractions and roots get braces.
 */
export function cleanAnswer(answer: string): string {
  let text = answer.trim();
  if (text.length > maximumAnswerLength) return text;
  for (const [pattern, replacement] of plain) text = text.replace(pattern, replacement);
  text = withoutDelimiters(text.trim());
  text = withoutUnit(text);
  for (let pass = 0; pass < 3; pass++) text = text.replace(typesetting, '$1');
  text = withoutEnclosing(text, '\\boxed{');
  text = withoutEnclosing(text, '\\text{');
  text = text.replace(/\s+(?:and|or)\s+/g, ',').trim();
  text = text.replace(/\.$/, '');
  text = text.replace(/\\sqrt\s?([0-9a-zA-Z])/g, '\\sqrt{$1}');
  text = text.replace(fractionArguments, (whole, a, b, c, d, e) => {
    if (a !== undefined) return `\\frac{${a}}{${b}}`;
    if (c !== undefined) return `\\frac{${c}}{`;
    return d === undefined ? whole : `\\frac{${d}}{${e}}`;
  });
  return text
    .replace(/(\d) +(?=\d)/g, '$1\u0001')
    .replace(/\s+/g, '')
    .replaceAll('\u0001', ' ');
}

/** Removes a short `x =` or `x \in` from the left of a cleaned answer. */
export function withoutAssignment(text: string): string {
  return text.replace(/^[a-zA-Z]{1,2}(?:=|\\in\b)/, '');
}

function withoutDelimiters(text: string): string {
  for (const [open, close] of [
    ['\\(', '\\)'],
    ['\\[', '\\]'],
  ] as const) {
    if (text.startsWith(open) && text.endsWith(close)) return text.slice(2, -2).trim();
  }
  return text;
}

/** Removes a unit from the right, where something stands before it. */
function withoutUnit(text: string): string {
  const found = unit.exec(text);
  if (found === null || found.index === 0) return text;
  return /^[a-zA-Z./ ]*$/.test(found[1]!) && !/^\s*(?:and|or)\s*$/.test(found[1]!)
    ? text.slice(0, found.index).trim()
    : text;
}

/** Removes a command that encloses all of the text, whatever braces are inside. */
function withoutEnclosing(text: string, command: string): string {
  if (!text.startsWith(command) || !text.endsWith('}')) return text;
  let depth = 1;
  for (let at = command.length; at < text.length; at++) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}' && --depth === 0) {
      return at === text.length - 1 ? text.slice(command.length, -1).trim() : text;
    }
  }
  return text;
}

const brackets: Readonly<Record<string, string>> = { '(': ')', '[': ']', '\\{': '\\}' };

/** An answer of several parts. */
export interface Collection {
  /** Brackets for tuples and intervals, as written; `''` for a bare list; `matrix` with its environment and shape. */
  readonly kind: string;
  readonly order: 'kept' | 'free';
  readonly parts: readonly string[];
}

/** Takes a cleaned answer apart into a matrix, a tuple, an interval, a set or a list; `undefined` where it is a single thing. */
export function readCollection(text: string): Collection | undefined {
  const matrix = /^\\begin\{([bpvBV]?matrix)\}([\s\S]*)\\end\{\1\}$/.exec(text);
  if (matrix !== null) {
    const rows = matrix[2]!.split('\\\\').filter((row) => row !== '');
    const cells = rows.map((row) => row.split('&'));
    const shape = cells.map((row) => row.length).join(',');
    return { kind: `matrix ${shape}`, order: 'kept', parts: cells.flat() };
  }
  for (const open of Object.keys(brackets)) {
    if (!text.startsWith(open)) continue;
    const close = ['\\}', ')', ']'].find((end) => text.endsWith(end));
    if (close === undefined || (open === '\\{') !== (close === '\\}')) continue;
    const inside = text.slice(open.length, text.length - close.length);
    const parts = splitAtCommas(inside);
    if (parts === undefined || (parts.length < 2 && open !== '\\{')) continue;
    return { kind: open + close, order: open === '\\{' ? 'free' : 'kept', parts };
  }
  const parts = splitAtCommas(text);
  if (parts !== undefined && parts.length > 1) return { kind: '', order: 'kept', parts };
  if (/^[^\\]*\\pm[^\\]*(?:\\(?!pm)[^\\]*)*$/.test(text)) {
    return { kind: '', order: 'free', parts: [text.replace('\\pm', '+'), text.replace('\\pm', '-')] };
  }
  return;
}

/** Splits at commas outside brackets that are not thousands separators; `undefined` where brackets do not match. */
function splitAtCommas(text: string): string[] | undefined {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    if (depth < 0) return;
    if (character === ',' && depth === 0 && !isThousandsSeparator(text, at)) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  if (depth !== 0) return;
  return [...parts, text.slice(start)];
}

/** Whether exactly three digits follow and one to three stand before, as in `1,234`. */
function isThousandsSeparator(text: string, at: number): boolean {
  return (
    /(?:^|[^\d,])\d{1,3}(?:,\d{3})*$/.test(text.slice(Math.max(0, at - 40), at)) &&
    /^\d{3}(?!\d)/.test(text.slice(at + 1, at + 5))
  );
}
