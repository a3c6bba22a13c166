import { areOneAngle, mathAnswersAgree } from '../equal/math-equivalence.ts';
import { onlyNumberIn } from '../equal/number-words.ts';
import { isUnit } from '../equal/units.ts';
import { type Candidate, candidateIn } from './candidate.ts';
import { conclusion } from './stances.ts';
import { concludes, withoutMarks } from './statements.ts';
import { areSame, type Value, valuesIn, withoutSpans } from './values.ts';

/** Words of formulas, quantities and letters; a line with other words is not an answer alone. */
const formulaWord =
  /^(?:or|and|at|in|of|out|least|most|more|less|than|about|all|real|pi|sqrt|sin|cos|tan|lim|ln|log|inf|infinity|mod|am|pm|chf|dne|option|choice|(?!is|it|so|we|he|to|by|as|be|do|go|if|my|no|on|up|us|an)[a-z]{2})$/i;

/** A letter of a script that formulas do not use. */
const foreignLetter = /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Common}])\p{L}/u;

/** Whether a line has only formulas and words of them. */
export function isFormula(line: string): boolean {
  if (foreignLetter.test(line) || !/[\p{L}\p{N}\\∅∞]/u.test(line)) return false;
  const words = line.replace(/\\[a-zA-Z]+(?:\{[a-zA-Z ]+\})?/g, ' ').match(/\p{L}{2,}/gu) ?? [];
  return words.every((word) => formulaWord.test(word) || isUnit(word));
}

/** The number of a step or an equation. It is not a result. */
export const label =
  /\b(?:step|equation|eq\.|page|part|case|line|chapter|theorem|problem|question|figure|table|section|exercise|example|reading)s?\s*[(#]?\d+\)?/gi;

/** Words that leave open which of several numbers is meant; the second ones do not if one of them is worked out. */
const doubt = /\b(?:otherwise|unless|maybe|perhaps|possibly|either|alternatively)\b/i;
const hedge = /\b(?:or|some|others?|else|might|could|if)\b/i;

/** What stands between the values of a list. */
const joint =
  /^[\s*]*(?:[,;]\s*(?:and|or|y|o|e|et|ou|und|oder)?|and|or|to|y|o|e|et|ou|und|oder|и|или|和|与|或|、)[\s*]+$/;

/** The last values of a sentence that are joined: numbers, or equations for a letter each. A calculation is none of a list. */
function listAtEnd(values: readonly Value[], sentence: string): readonly Value[] {
  const isNamed = ({ text }: Value) =>
    /^[\\$([\s]*\\?[a-zA-Z]+(?:_\{?\w+\}?|[₀-₉])?(?:\([a-z]\))?\s*=/.test(text);
  const isPlain = ({ text }: Value) => !/[=≈]/.test(text);
  const last = values.at(-1)!;
  const before = values.findLastIndex((value, index) => {
    const next = values[index + 1];
    if (next === undefined) return !isNamed(last) && !isPlain(last);
    const isJoined = joint.test(sentence.slice(value.at + value.text.length, next.at));
    return !isJoined || !(isNamed(value) || (isPlain(value) && isPlain(last)));
  });
  return values.slice(Math.min(before + 1, values.length - 1));
}

/**
 * The value that a sentence says: the list that it says something to be, its only value, the last one that it says something to be, or the
 * one that was worked out before. The sentence stands at `start` in its text.
 */
export function saidIn(given: string, start = 0, workedOut?: () => Value | undefined): Candidate | undefined {
  const sentence = conclusion(
    given
      .replace(label, (words) => words.replace(/\d/g, ' '))
      .replace(/\*\*|`/g, (marks) => ' '.repeat(marks.length)),
  );
  const all = valuesIn(sentence);
  const parts = all.filter(
    ({ at }) => !/\bof (?:all )?(?:the|these|those|its|his|her|their) $/i.test(sentence.slice(0, at)),
  );
  const values = parts.length > 0 ? parts : all;
  const last = values.at(-1);
  if (last === undefined) return;
  const take = ({ answer, at, text }: Value) => ({ answer, at: start + at, end: start + at + text.length });
  const list = listAtEnd(values, sentence);
  const [first] = list as [Value];
  if (list.length > 1 && first.saidBy !== undefined) {
    const counted = values.slice(0, -list.length).findLast(({ saidBy }) => saidBy !== undefined);
    if (counted !== undefined && /:\s*$/.test(sentence.slice(0, first.at))) return take(counted);
    const text = sentence.slice(first.at, last.at + last.text.length);
    const isForeign = !/\b(?:and|or|to)\b/.test(text);
    return take({ ...first, text, answer: isForeign ? list.map(({ answer }) => answer).join(', ') : text });
  }
  if (values.every((value) => areSame(value, last))) {
    const [value] = values as [Value];
    const agree = (units: 'same' | 'converted') => mathAnswersAgree(value.answer, last.answer, { units });
    const areConverted = (agree('converted') || areOneAngle(value.answer, last.answer)) && !agree('same');
    if (areConverted && values.length > 2) return take(last);
    return take(areConverted ? { ...value, answer: `${value.answer}, or ${last.answer}` } : value);
  }
  const stated = values.findLast(({ saidBy }) => saidBy !== undefined);
  const before = stated === undefined ? workedOut?.() : undefined;
  const value = stated ?? values.findLast((one) => before !== undefined && areSame(one, before));
  const clause = withoutSpans(sentence)
    .split(/[,;:]\s/)
    .at(-1)!;
  const isOpen = doubt.test(clause) || (value?.saidBy !== 'equation' && hedge.test(clause));
  return value === undefined || isOpen ? undefined : take(value);
}

/** A sentence or a conclusion that begins with its verdict. */
const reply =
  /^(?:.*[,;]\s(?=(?:so|thus|hence|therefore)\b))?(?:(?:so|thus|hence|therefore)\b,?\s)?(yes|no|true|false|ja|nein|oui|non|sí)(?:[,.:]|$)(?!\s*\$?\d[\d.,]*$)(?!.*\b(?:yes|no|true|false)\b)/i;
/** A verdict on a statement: "It is not true: …". */
const judged =
  /(?:^(not)\s|(?:^|[,;]\s(?=(?:so|thus|hence|therefore)\b))(?:(?:so|thus|hence|therefore)\b,?\s)?(?:it|(?:the|this|that)(?:\s(?:statement|claim|assertion|proposition))?)(?:\sis|['’]s)(\snot|n['’]t)?\s(?:always\s)?)(?:(true|correct)|false|incorrect|wrong)(?:\s?[—–]|[,.:]|$|\sin general\b|\s(?:because|since|as)\b|(?<=false|wrong)\s(?:for|when|if)\b)(?!.*\b(?:yes|no|true|false)\b)/i;
/** What a sentence says of solutions: that there are none, or no end of them. */
const solutions =
  /\b(no (?:[a-z]+ ){0,3}(?:solutions?|roots?|zeros|exists?)|no such (?:[a-z]|number|integer|value|pair|function|real)s?|inconsistent|(?:does|do) not exist|infinitely many solutions|there are none|^no (?:real )?(?:[a-z]|number|integer|value|pair)s? satisf(?:y|ies)|undefined|DNE|(?:con|di)verges(?! to))\b(?!.*\b(?:when|if|for)\b.*\d)[^,;:]{0,40}$/i;
const endless =
  /(?<!\b[a-z]\$? )\b(?:diverges|tends|goes|grows) to (minus |negative |plus |positive )?(infinity)(?=[.!]?$| as\b)/i;
const anyNumber =
  /^(?!.*(?:\b(?:not|greater|less|more|between|but|if|when|with|such|where|unless)\b|[<>≤≥≠])).*\b(?:(?:every|any|all) real (?:number|value)s?\b.*\b(?:solutions?|works?|satisf)|can be any real number|(?:holds|true) for (?:all|every|any) real)/i;

/** A conclusion that something is not of a kind: "so it isn't prime". */
const negated =
  /(?:^|[,;]\s)(?:so|thus|hence|therefore)\b,?\s(?:it|this|that|\S{1,20})\sis(?:n['’]t|\snot)\s(?:an?\s)?(?:prime|composite|even|odd|divisible|rational|irrational|(?:perfect\s)?square|convergent|injective|surjective|bijective)(?:\snumber)?\.?$/i;

const saysValue = (text: string) => valuesIn(text).some(({ saidBy }) => saidBy === 'words');

/** The yes or no of a sentence, or its words for "no solutions", unless it says a number. */
export function verdictOf(given: string): string | undefined {
  const sentence = given.replace(/,\s(?:since|because|as)\b.*$|\s\([^()]*\)(?=[.!]?$)/, '');
  const [begin = '', said] = reply.exec(sentence) ?? [];
  const verdict = judged.exec(sentence);
  if (verdict !== null && !saysValue(sentence.slice(0, verdict.index))) {
    const isDenied = (verdict[1] ?? verdict[2]) !== undefined;
    return isDenied === (verdict[3] === undefined) ? 'True' : 'False';
  }
  if (said === undefined && /\b(?:except|other than|apart from|but (?=\S+$))\b/i.test(sentence)) return;
  const word =
    said ??
    (anyNumber.test(sentence) ? 'all real numbers' : undefined) ??
    solutions.exec(sentence)?.[1]?.replace(/^(?:no such.*|.*satisf.*|inconsistent)/i, 'no solution') ??
    endless
      .exec(sentence)
      ?.slice(1)
      .join('')
      .replace(/^(?:minus|negative) /i, '-')
      .replace(/^(?:plus|positive) /i, '') ??
    (negated.test(sentence) ? 'No' : undefined);
  const clause = sentence.slice(begin.length).replace(/^.*[,;]\s(?=(?:so|thus|hence|therefore)\b)/, '');
  return saysValue(clause) ? undefined : word;
}

/** What a sentence without other formulas says that something is: "The area is 24\\pi square units." */
const copula =
  /^[^\d\\]*(?:\b(?:is|are|equals|will be)\b|\b(?:[Ii]t|[Tt]hat|[Tt]here)['’]s\b)\s*:?\s*(?:exactly|only|precisely|just)?\s*(?!not\b)(\S.*?)\.?$/;

/** The words behind "is", without an explanation of a number. */
function wordsSaid(sentence: string): string | undefined {
  const words = copula.exec(conclusion(sentence).trimEnd())?.[1];
  const number = words?.split(/\s?[:;—–]\s|,\s(?!so\b|thus\b|hence\b|therefore\b|and\b|but\b|or\b)/)[0];
  return number !== undefined && onlyNumberIn(number) !== undefined ? number : words;
}

/** The words that a sentence says something to be: its only bold ones, those behind "is", or its only number. */
export function saidInWords(text: string, sentence: string, start: number): Candidate | undefined {
  const [bold, ...others] = sentence.match(/\*\*[^*]+\*\*/g) ?? [];
  const words =
    bold !== undefined && others.length === 0
      ? withoutMarks(bold)
      : (wordsSaid(sentence) ?? (/\s\S+\s/.test(sentence) ? onlyNumberIn(sentence) : undefined));
  return words === undefined ? undefined : candidateIn(text, words, withoutMarks(words), start);
}

/** Whether a sentence without digits concludes something: a verdict, or a number in words. */
export function isConclusive(sentence: string): boolean {
  const words = wordsSaid(sentence) ?? (concludes.test(sentence) ? sentence : '');
  return verdictOf(sentence) !== undefined || onlyNumberIn(words) !== undefined;
}
