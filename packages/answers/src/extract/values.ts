import { agreeAsDates, monthName } from '../equal/dates.ts';
import { areOneAngle, mathAnswersAgree } from '../equal/math-equivalence.ts';
import { numberOf } from '../equal/number-of.ts';
import { isUnit, unitOf } from '../equal/units.ts';
import { lastRow, lastSide } from './last-side.ts';

/** A value in a sentence: a number with its unit, a formula, a date. */
export interface Value {
  /** As written. */
  readonly text: string;
  /** How it reads as an answer: the last side of a chain, with its unit. */
  readonly answer: string;
  readonly at: number;
  /** What says that something is this value: an equation, or the words before it. */
  readonly saidBy: 'equation' | 'words' | undefined;
}

/** Formulas between signs. An inline one has no space inside its dollars or on both sides, so that prices are not formulas. */
const span =
  /\\begin\{([a-z]+\*?)\}[\s\S]*?\\end\{\1\}|(?<!\\)\$\$(?:[^$\\]|\\[\s\S])+\$\$|(?<![\\$])\$(?:(?=\S)(?:[^$\\]|\\[\s\S])+?(?<!\s)|\s(?:[^$\\]|\\[\s\S])+?\s|\s[^$\\]*[\\^_](?:[^$\\]|\\[\s\S])*?)\$(?!\d)|\\\([\s\S]+?\\\)|\\\[[\s\S]+?\\\]/g;

/** Small letters above or below the line: `aₙ`, `2ⁿ`. */
const raised = 'ₐ-ₜᵢ-ᵥⱼⁱⁿᵏᵐˣ';
const letter = String.raw`(?<![\p{L}\p{M}'’])(?:[a-zA-Z]?π|[a-zA-Zα-ωΔΩ])(?:(?![\p{M}'’]|(?![${raised}])\p{L})|['’′]{1,2}(?=\())`;
const name = String.raw`(?<!\p{L})(?:sqrt|sin|cos|tan|log|ln|pi)(?!\p{L})|\\[a-zA-Z]+(?:\{[^{}\n]*\}){0,2}`;
const number = String.raw`(?:(?:minus|negative)\s(?=\d))?(?:(?:US|[A-Z])?[$€£¥₹]\s?)?(?:(?<!\d)\.\d+|\d{1,3}(?:[,.\u202f\u00a0 ]\d{3})+(?!\d)|\d+|∞)(?:[.,]\d+)?(?:(?<=\.\d+)(?:\.{3}|…))?(?: \d+\/\d+(?!\d)|:\d\d(?:\s?[ap]\.?m\b)?)?`;
const power = String.raw`(?:[¹²³⁰-⁹⁺⁻½¼¾⅓⅔₀-₉₊₋${raised}!°′]|\s?\\?%|\^\{[^{}\s]{1,20}\}|\^\{?[-−]?[\w/]+\}?|_\{?\w+\}?)*`;
const inner = String.raw`(?:[^()[\]{}\p{L}\n]|${letter}|${name})`;
const group = String.raw`(?:ℝ\s?[\\∖]\s?)?[([{⟨](?:${inner}|[([]${inner}{1,40}[)\]]){1,80}[)\]}⟩]`;
const product = String.raw`(?:(?<![\p{L}\d)])[-−+±])?[√∛∜]?(?:(?:\s?(?:${name})|(?:\s(?<=(?:sin|cos|tan|log|ln)\S{0,3}\s))?(?:\s?[√∛∜])?(?:${number}|${group}|${letter}))${power})+`;
const operator = String.raw`(?:\s?(?:[-–−+*/⁄^×·÷<>≤≥≠≈≡=±∪∩]|[<>]=|\*\*)+\s?|\s[xX]\s(?=[$.\d(])|(?<=\d)(?::|\s:\s)(?=\d))`;
/** A number or a formula that stands in a sentence without signs around it. */
const run = new RegExp(
  String.raw`(?<=\b(?:probability|chances?|odds)\b[^.\d]{0,30})\d+ (?:in|out of) \d+(?!\d|\.\d)|\b\d{1,2}[./]\d{1,2}[./]\d{4}\b|${monthName}\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?\b|\b\d{1,2}(?:st|nd|rd|th|\.)? (?:of |de )?${monthName}(?!\p{L})(?:,?(?: de)? \d{4})?|${product}(?:${operator}${product})*(?!\d|\p{L}{5}|(?:st|nd|rd|th)\b|\s?=\s*$)`,
  'giu',
);

/** What stands before the value that a sentence states. */
const saying =
  /(?:[=≈:→⇒]|[-=]>|i\.e\.,?|\b(?:namely|(?:it|that|this|s?he)['’]s|^its|is|are|was|were|be|equals?|equal to|gives?|yields?|leaves?|leaving|makes?|totals?|(?:comes?|reduces?|amounts?|leads?|works? out|simplifies) to|results? in|becomes?|(?:ends?|left|up) with|(?:arrives?|lies?|located|meets?|intersects?|occurs?) at|(?:total|answer|remainder|result) of|remainder|that is,|corresponds? to|ha[sv]e? the (?:solutions?|roots?|zeros)|(?:starts|begins)(?: with)?|factors? as|(?:known|written) as|(?:factori[sz]es|expands|tends|converges) (?:as|in)?to|approaches|(?:get|have|find|obtain|ha[sd]|needs?|takes?|costs?|pays?|earns?|owes?|gets|requires?|measures?|receives?|weighs?|lasts?|spends?|reach(?:es)?|es|son|ist|sind|beträgt|est|sont|é|è|são|sono))|是|为|は)\s*(?:(?:just|simply|exactly|only|then|therefore|thus|now|about|approximately|by)\s)*$/iu;

/** A text with other signs where a formula stands, so that its ends of lines and its numbers are not those of the text. */
export const withoutSpans = (text: string) => text.replace(span, (formula) => '\0'.repeat(formula.length));

/** The values of a sentence in their order. A formula without digits is one only if something is said to be it. */
export function valuesIn(sentence: string): Value[] {
  const valueAt = (text: string, at: number, answer: string): Value => {
    const before = sentence.slice(Math.max(0, at - 60), at);
    const isTime = /^\d{1,2}:\d\d/.test(text) && /\bat\s*$/.test(before);
    const isEquation = /[=≈≡]|\\equiv/.test(text) || /[=≈][\s*]*$/.test(before);
    return {
      text,
      answer,
      at,
      saidBy: isEquation ? 'equation' : isTime || saying.test(before) ? 'words' : undefined,
    };
  };
  const spans = [...sentence.matchAll(span)].map(({ 0: text, index }) =>
    valueAt(text, index, lastSide(lastRow(text))),
  );
  const runs = [...withoutSpans(sentence).matchAll(run)].flatMap(({ 0: given, index }) => {
    const text = given.trim();
    const at = index + given.indexOf(text);
    return isValue.test(text) ? valueAt(text, at, resultOf(text, at, sentence)) : [];
  });
  const values = [...spans, ...runs].sort((one, other) => one.at - other.at);
  return values.filter(({ answer, saidBy }) => saidBy !== undefined || /[\dπ∞]/.test(answer));
}

const isValue = /[\d∞]|[\p{L})].*[=<>+*/^√π].*[\p{L}(]|π/u;

/** The last side of a run in a sentence, with its unit. */
function resultOf(text: string, at: number, sentence: string): string {
  const formula = text
    .replace(/(?<=[\d%)])\s?[xX]\s?(?=[\d.$(])/g, '×')
    .replace(/(?<=\d)([a-zA-Z])(?![\p{L}(])(?=.*=.*\d\1$)/gu, '');
  // In "200 km / 3 h ≈ 67" the run begins with a unit.
  const hasVariables = /\p{L}/u.test(formula) && !/\d\s$/.test(sentence.slice(Math.max(0, at - 2), at));
  const isRounded = /≈[^=≈]*\.\d[^=≈]*$/.test(formula);
  const side = (hasVariables || isRounded ? lastSide(formula) : formula.split(/[=≈]/).at(-1)!.trim())
    .replace(/^(?:minus|negative)\s/i, '-')
    .replace(/^[A-Z]{1,2}(?=\$)/, '')
    .replace(/^([$€£¥₹])\s/, '$1')
    .replace(/(?<=^\D{0,2}\d+),(?=\d\d$)/, '.');
  const isNumber =
    /\d[²³]?$|^[^a-zA-Z]*10⁻?[¹²³⁰-⁹]+$|≈[^a-zA-Z]*10⁻?[¹²³⁰-⁹]+$/.test(side) &&
    agreeAsDates(text, text) === undefined;
  return isNumber ? withUnit(side, sentence.slice(at + text.length)) : side;
}

/** Both parts of `2 hours and 30 minutes`, or the unit, number word or percent sign behind a number. */
const twoUnits =
  /^ ?(?:hours?|hrs?|h|minutes?|min|feet|foot|ft|degrees?|dollars?|euros?),? (?:and )?\d+ ?(?:minutes?|mins?|min|seconds?|sec|s|inch(?:es)?|in|cents?)\b/;
const oneUnit = /^\s?(?:\\?%|(?!in\s[a-z\d])(°?[a-zA-Z]+[²³]?|°)(?:(?:\/| per )[a-zA-Z]+[²³]?)?)/;

function withUnit(digits: string, rest: string): string {
  const [behind, unit = '%'] = twoUnits.exec(rest) ?? oneUnit.exec(rest) ?? [''];
  if (/^[a-zA-Z]$/.test(unit) && isUnit(unit)) return `${digits}\\text{${behind}}`;
  return unit === '%' || isUnit(unit.replace(/[²³]$/, '')) || unitOf(unit).factor > 1
    ? digits + behind
    : digits;
}

/** Whether two values are the same number, text or measure: `20 m/s` and `72 km/h`. */
export function areSame(one: Value, other: Value): boolean {
  const [a, b] = [one, other].map(({ answer }) =>
    numberOf(answer.replace(/^.*[=≈]|\\text.*|\s[a-z].*$/g, '')),
  );
  if (one.answer === other.answer || areOneAngle(one.answer, other.answer)) return true;
  const areMeasures = [one, other].every(({ answer }) => /\d\D*[a-z]|[$€£¥₹]\s?\d/i.test(answer));
  return areMeasures
    ? mathAnswersAgree(one.answer, other.answer, { units: 'converted' })
    : a !== undefined && b !== undefined && a.equals(b);
}
