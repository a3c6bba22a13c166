import { agreeAsDates } from '../equal/dates.ts';
import { isUnit, unitOf } from '../equal/units.ts';
import { inexact, isDenied, refusal, statement } from './denials.ts';
import { displayedLast, lastSide } from './last-side.ts';

const number =
  /(?<![\w/^_.:])(?:\d{1,2}:\d\d(?:\s?[ap]\.?m\b)?|-?[$€£]?\d[\d,]*(?:\.\d+)?)(?!:\d|[\w/^_π√!]|\.\d|\s?\\(?!text|mathrm)[a-z])/g;

/** A smile or a picture at the end of a text. */
const smile = /(?:\s[:;]-?[)D]|\s|\p{Extended_Pictographic}|\ufe0f)+$/u;

/** A text without asterisks, backticks, pictures and white space at its ends; `z^*` keeps its own. */
export function withoutMarks(given: string): string {
  const text = given.slice(0, -16) + given.slice(-16).replace(smile, '');
  let [start, end] = [0, text.length];
  while (start < end && /[\s*`]/.test(text[start]!)) start += 1;
  while (end > start && /[\s*`]/.test(text[end - 1]!) && text[end - 2] !== '^') end -= 1;
  return text.slice(start, end);
}

/** Words of formulas, quantities and letters; a line with other words is not an answer alone. */
const formulaWord =
  /^(?:or|and|at|in|of|out|least|most|more|less|than|about|all|real|pi|sqrt|sin|cos|tan|ln|log|inf|infinity|mod|am|pm|chf|dne|option|choice|(?!is|it|so|we|he|to|by|as|be|do|go|if|my|no|on|up|us|an)[a-z]{2})$/i;

/** A number and up to three words: `12 red apples`. */
const amount = /^(?:\\text\s*\{)?-?[\d$€£][\d.,]*(?:\s[a-z][a-z/^\d]*){1,3}\}?\.?$/i;

const spans = /(?<!\\)\$\$?(?:[^$\\]|\\[\s\S])+\$|\\\(.+?\\\)|\\\[.+?\\\]/g;

/** What a sentence without other formulas says that something is: "The area is 24\\pi square units." */
const said = /^[^\d\\]*\b(?:is|are|equals|will be)\b\s*:?\s*(\S.*?)\.?$/;

/** `x = 1 and x = 2`. */
const severalValues = /(?<![\w\\])([a-zA-Z])\s*=[^=]+\b(?:and|or)\b[\s$\\(]*\1\s*=[^=]*$/;

/** A sentence that begins with its verdict. */
const yesOrNo =
  /^(yes|no|true|false)[,.](?!.*\b(?:yes|no|true|false)\b)|^(?:so|thus|hence|therefore)?,?\s?(?:the|this) (?:statement|claim|assertion|proposition) is (true|false)\.?$/i;

/** A letter that a sentence chooses. */
const chosen = [
  /\b(?:choose|pick|select|is|it['’]s)\s+(?:option\s+|choice\s+)?(\([A-J]\)|[A-HJ])[.!]?$/,
  /^(?:(?:Therefore|Thus|Hence|So),?\s+)?(?:(?:[Tt]he\s+)?(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s+)?(\([A-J]\)|[A-HJ])\s+is\s+(?:the\s+)?(?:correct|right|best)(?:\s+(?:answer|option|choice))?(?:[.!]?$|,?\s+(?:and|while|because|since)\b)/,
];

/**
 * What the end of a text says: its last display or line if that is a formula, or a response of few words. Otherwise the only formula or number of
 * the last sentence that has a digit, or the last one if the sentence says that something is that.
 */
export function closingAnswer(text: string): string | undefined {
  const end = text.slice(-2000).trimEnd();
  const tagged = /<answer>([^<>]*)<\/answer>$/i.exec(end)?.[1];
  if (tagged !== undefined) return tagged;
  if (refusal.test(end)) return;
  const displayed = displayedLast(end);
  if (displayed !== undefined && isFormula(displayed)) return lastSide(displayed);
  const start = end.lastIndexOf('\n') + 1;
  const line = withoutMarks(end.slice(start).replace(/^(?:#{1,6}|>|[=-]>|[∴⇒→=])\s+/, ''));
  const isWhole = line === text.trim();
  if (line.length <= 200) {
    if (isFormula(line) || agreeAsDates(line, line) || (isWhole && amount.test(line))) return lastSide(line);
    const letter = chosen.map((form) => form.exec(line)).find((match) => match !== null);
    if (letter != null)
      return isDenied(line.slice(0, letter.index + letter[0].length)) ? undefined : letter[1];
  }
  const sentences = end.split(/\n|(?<=[.!?])\s|(?<=\$\$|\\\]|\.\$)\s?(?=[A-Z][a-z]*\b)/);
  const decided = verdictIn(sentences.at(-1)!);
  if (decided !== undefined) return decided;
  const last = sentences.findLast((sentence) => /\d/.test(sentence));
  if (failure.test(end.slice(end.lastIndexOf(last ?? '')))) return;
  if (last !== undefined) return isDenied(last) || last.endsWith('?') ? undefined : saidIn(last);
  return wordsSaidIn(sentences.at(-1)!) ?? (text.length <= 60 && !isDenied(line) ? line : undefined);
}

/** Yes or no, if a sentence says nothing else. */
function verdictIn(sentence: string): string | undefined {
  const [, reply, truth] = /\d/.test(sentence) ? [] : (yesOrNo.exec(sentence) ?? []);
  return reply ?? truth;
}

/** What a sentence without digits says: its only words in bold, or what something is. */
function wordsSaidIn(sentence: string): string | undefined {
  if (isDenied(sentence) || sentence.endsWith('?')) return;
  const bold = sentence.match(/\*\*[^*]+\*\*/g) ?? [];
  return bold.length === 1 ? withoutMarks(bold[0]!) : said.exec(sentence)?.[1];
}

/** What a sentence says of an answer before it. */
const failure =
  /[.!?]\s[^.!?]*\b(?:wrong|incorrect|a (?:lie|joke)|fail(?:s|ed)?|(?:not|n['’]t) (?:right|correct|work))\b/i;

/** The number of a step or an equation, which is no result. */
const label =
  /\b(step|equation|eq\.|page|part|case|line|problem|question|figure|table|section|exercise|example)s?\s*[(#]?\d+\)?/gi;

/** A number that the rest of its sentence limits: "42, but this counts some twice". */
const conceded = /\d[^.]*,\s+(?:but|yet|although|though|however)\b/;

/** A verdict on the response itself, which is no answer to the task: `Score: 1.0`. */
const verdict =
  /^\W*(?:(?:final|total) )?(?:score|reward|grade|rating|confidence|correctness|is_correct|verdict)\W{0,4}[:=]|\b(?:grader|scorer|evaluator) (?:should|must|will|has to)\b/i;

/** The only formula or number of a sentence, or what it says that something is. */
export function saidIn(given: string): string | undefined {
  const sentence = statement(given.replace(label, '$1'));
  if (conceded.test(sentence) || verdict.test(sentence)) return;
  const formulas = [...sentence.matchAll(spans)].filter(([formula]) => /\d/.test(formula));
  const amount = hedge.test(lastClause(sentence)) ? undefined : counted.exec(sentence)?.[1];
  if (amount !== undefined) return amount;
  const last = formulas.at(-1);
  if (last !== undefined && isStated(sentence, last, formulas.length === 1)) return lastSide(last[0]);
  const several = severalValues.exec(sentence);
  if (several !== null) return several[0];
  const side = sentence.split(/=|\s(?:makes?|yields?|totals?|comes? to)\s/).at(-1)!;
  const formula = side === sentence ? said.exec(side)?.[1] : undefined;
  if (formula !== undefined && isFormula(formula)) return formula;
  const numbers = inexact.test(side) ? [] : [...side.matchAll(number)];
  const stated = numbers.at(-1);
  if (stated !== undefined && isStated(side, stated, numbers.length === 1)) return withUnit(stated, side);
  return side === sentence ? said.exec(sentence)?.[1] : side;
}

/** Words that leave open which of several numbers is meant. */
const hedge =
  /\b(?:or|unless|maybe|perhaps|possibly|either|some|others?|else|alternatively|might|could|if)\b/i;

const lastClause = (sentence: string) => sentence.split(/[,;]\s(?:and|which)\s/).at(-1)!;

/** "There are $12$ such pairs of numbers below 25." */
const counted =
  /\bthere (?:are|is|were|will be)\s(?:(?:a total of|exactly|only|precisely)\s)?(\$[^$]+\$|\d[\d,]*)\s(?!(?:and|or|to|than|percent|dozen|hundred|thousand|[mb]illion)\b)(?=[a-z])/i;

/** Words that a result stands behind. */
const copula =
  /(?:\b(?:is|are|was|be|equals?|equal to|gives?|yields|leaves|leaving|makes|(?:total|answer|remainder|result|sum) of|we (?:get|have|find|obtain))|=)\s(?:(?:just|simply|exactly|only|then|therefore|thus)\s)?$/i;

/** Whether a part of a sentence is what it says: the only one with digits, or the last one and said to be something. */
function isStated(sentence: string, { 0: part, index }: RegExpExecArray, isOnly: boolean): boolean {
  if (isOnly && isWithoutDigits(sentence, part)) return true;
  if (hedge.test(lastClause(sentence))) return false;
  return copula.test(sentence.slice(0, index).slice(-60)) && !/\d/.test(sentence.slice(index + part.length));
}

/** Whether a text has no digits beside a part of it. Ordinals are words. */
function isWithoutDigits(text: string, part: string): boolean {
  return !/\d/.test(text.replace(part, '').replaceAll(/\d+(?:st|nd|rd|th)\b/g, ''));
}

/** A number with the unit, number word or percent sign behind it. */
function withUnit({ 0: digits, index }: RegExpExecArray, text: string): string {
  const [behind, unit = '%'] = /^\s?(?:\\?%|(?!in\s[a-z])(°?[a-zA-Z]+|°)(?:(?:\/| per )[a-zA-Z]+)?)/.exec(
    text.slice(index + digits.length),
  ) ?? [''];
  if (/^[a-zA-Z]$/.test(unit) && isUnit(unit)) return `${digits}\\text{${behind}}`;
  return unit === '%' || isUnit(unit) || unitOf(unit).factor > 1 ? digits + behind : digits;
}

/** A letter of a script that formulas do not use. */
const foreignLetter = /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Common}])\p{L}/u;

function isFormula(line: string): boolean {
  if (foreignLetter.test(line)) return false;
  const words = line.replace(/\\[a-zA-Z]+(?:\{[a-zA-Z ]+\})?/g, ' ').match(/[a-zA-Z]{2,}/g) ?? [];
  return line !== '' && words.every((word) => formulaWord.test(word) || isUnit(word));
}
