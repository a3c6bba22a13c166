import { agreeAsDates } from './dates.ts';
import { isUnit } from './units.ts';

/** A word that denies an answer. */
export const negativeWord =
  /\b(?:not(?! exist)|cannot|never|neither|wrong|incorrect|unlikely|hardly|(?<!\bno )doubt)\b|\bfalse that\b|n't\b|n’t\b/i;

const number = /(?<![\w/^_.])-?[$€£]?\d[\d,]*(?:\.\d+)?(?![\w/^_π√!]|\.\d|\s?\\(?!text|mathrm)[a-z])/g;

/** A text without asterisks, backticks and white space at its ends; `z^*` keeps its own. */
export function withoutMarks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && /[\s*`]/.test(text[start]!)) start += 1;
  while (end > start && /[\s*`]/.test(text[end - 1]!) && text[end - 2] !== '^') end -= 1;
  return text.slice(start, end);
}

/** Words of formulas and units; a line with other words is not an answer alone. */
const formulaWord =
  /^(?:or|and|pi|sqrt|sin|cos|tan|ln|log|inf|infinity|mod|mm|cm|km|kg|mg|ml|am|pm|mph|usd|eur|dne|option|choice)$/i;

/** A number and up to three words: `12 red apples`. */
const amount = /^(?:\\text\s*\{)?-?[\d$€£][\d.,]*(?:\s[a-z][a-z/^\d]*){1,3}\}?\.?$/i;

const spans = /\$([^$]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]/g;

/** What a sentence without other formulas says that something is: "The area is 24\\pi square units." */
const said = /^[^\d\\]*\b(?:is|are|equals)\b\s*:?\s*(\S.*)$/;

/**
 * What the end of a text says: its last line if that is a formula, or a response of few words; else the only formula or number of the last
 * sentence that has a digit, or of what follows its last equals sign.
 */
export function closingAnswer(text: string): string | undefined {
  const end = text.slice(-2000).trimEnd();
  const line = withoutMarks(end.slice(end.lastIndexOf('\n') + 1).replace(/^(?:#{1,6}|>)\s+/, ''));
  if (
    line.length <= 200 &&
    (isFormula(line) || agreeAsDates(line, line) || (line === text.trim() && amount.test(line)))
  )
    return line;
  const last = end.split(/\n|(?<=[.!?])\s/).findLast((sentence) => /\d/.test(sentence));
  if (last === undefined) return text.length <= 60 && !negativeWord.test(line) ? line : undefined;
  if (negativeWord.test(last) || last.endsWith('?')) return;
  const formulas = [...last.matchAll(spans)].filter(([formula]) => /\d/.test(formula));
  if (formulas.length === 1 && !/\d/.test(last.replace(formulas[0]![0], ''))) return formulas[0]![0];
  const side = last.slice(last.lastIndexOf('=') + 1);
  const numbers = [...side.matchAll(number)];
  if (numbers.length === 1) return withUnit(numbers[0]!, side);
  return side === last ? said.exec(last)?.[1] : side;
}

/** A number with the unit or percent sign behind it. */
function withUnit({ 0: digits, index }: RegExpExecArray, text: string): string {
  const [behind, unit = '%'] = /^\s?(?:\\?%|([a-zA-Z]+))/.exec(text.slice(index + digits.length)) ?? [''];
  return unit === '%' || isUnit(unit) ? digits + behind : digits;
}

function isFormula(line: string): boolean {
  const words = line.replace(/\\[a-zA-Z]+(?:\{[a-zA-Z ]+\})?/g, ' ').match(/[a-zA-Z]{2,}/g) ?? [];
  return line !== '' && words.every((word) => formulaWord.test(word));
}
