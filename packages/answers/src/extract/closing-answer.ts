import { agreeAsDates, monthName } from '../equal/dates.ts';
import { onlyNumberIn } from '../equal/number-words.ts';
import { isUnit, unitOf } from '../equal/units.ts';
import { displayedLast, lastSide } from './last-side.ts';
import { type Candidate, candidateIn, conclusion, inexact, refusal } from './stances.ts';

const date = String.raw`\b${monthName}\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?\b|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?${monthName}\b(?:,? \d{4})?`;
const point = String.raw`[[(](?:[-−]?[\d./∞]+, ?){1,3}[-−]?[\d./∞]+[\])]`;
const twoUnits = String.raw`\d+ ?(?:hours?|hrs?|h|minutes?|min|feet|ft),? (?:and )?\d+ ?(?:minutes?|mins?|min|seconds?|sec|s|inch(?:es)?|in)\b`;
const timeOfDay = String.raw`\d{1,2}:\d\d(?:\s?[ap]\.?m\b)?`;
const mixedNumber = String.raw`-?[$€£]?\d[\d,]*(?:\.\d+|(?: \d+)?\/\d+|[₀-₉]+)?`;
/** A date, a point, two units, a time of day, or a number, which may be mixed. None is a part of a formula. */
const number = new RegExp(
  String.raw`${date}|${point}|${twoUnits}|(?<![\w/^_.:])(?:${timeOfDay}|${mixedNumber})(?!:\d|[\w/^_π√!]|\.\d|\s?\\(?!text|mathrm)[a-z])`,
  'gi',
);

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
const said = /^[^\d\\]*\b(?:is|are|equals|will be)\b\s*:?\s*(?:exactly|only|precisely|just)?\s*(\S.*?)\.?$/;

/** `x = 1 and x = 2`. */
const severalValues =
  /(?<=\bare\s(?:therefore |thus |then )?:?\s?)(?:[-−]?[\d./]+, )+(?:and )?[-−]?[\d./]+(?=\.?$)|(?<![\w\\])([a-zA-Z])\s*=[^=]+\b(?:and|or)\b[\s$\\(]*\1\s*=[^=]*$/;

/** A sentence that begins with its verdict. */
const yesOrNo =
  /^(?:(?:so|thus|hence|therefore)\b,?\s)?(?:(yes|no|true|false)[,.](?!.*\b(?:yes|no|true|false)\b)|(?:the|this) (?:statement|claim|assertion|proposition) is (true|false)\.?$)/i;
/** What a sentence says of solutions: that there are none, or no end of them. */
const solutions =
  /\b(no (?:[a-z]+ ){0,3}(?:solutions?|exists?)|(?:does|do) not exist|infinitely many solutions|there are none|undefined|DNE|(?:con|di)verges)\b[^,;:]{0,40}$/i;
/** A letter that a sentence chooses. */
const chosen = [
  /\b(?:choose|pick|select|go with|lea(?:ves?|ving)|hence|thus|therefore|so|is|it['’]s)\s+(?:option\s+|choice\s+)?(\([A-J]\)|[A-HJ])[.!]?$/,
  /^(?:(?:Therefore|Thus|Hence|So),?\s+)?(?:(?:[Tt]he\s+)?(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s+)?(\([A-J]\)|[A-HJ])\s+is\s+(?:the\s+)?(?:correct|right|best)(?:\s+(?:answer|option|choice))?(?:[.!]?$|,?\s+(?:and|while|because|since)\b)/,
];

/** A text that is a tag with the answer. */
const tagged = /<(answer|final|solution|result)>([^<>]*)<\/\1>$/i;

/**
 * What the end of a text says: its last display or line if that is a formula, or a response of few words. Otherwise the only formula or number of
 * the last sentence that has a digit, or the last one if the sentence says that something is that.
 */
export function closingAnswer(text: string): Candidate | undefined {
  const end = text.trimEnd();
  const last = end.slice(-2000);
  const base = end.length - last.length;
  const tag = tagged.exec(last)?.[2];
  if (tag !== undefined) return { answer: tag, at: 0, end: 0 };
  if (refusal.test(last)) return;
  const displayed = displayedLast(last);
  if (displayed !== undefined && isFormula(displayed)) {
    return { answer: lastSide(displayed), at: end.lastIndexOf(displayed), end: end.length };
  }
  const start = base + last.lastIndexOf('\n') + 1;
  const line = withoutMarks(end.slice(start).replace(/^(?:#{1,6}|>|[=-]>|[∴⇒→=✓✔✅☑👉])\ufe0f?\s+/u, ''));
  if (line.length <= 200) {
    const isWhole = line === end.trim();
    if (isFormula(line) || agreeAsDates(line, line) || (isWhole && amount.test(line))) {
      return candidateIn(end, line, lastSide(line), start);
    }
    const letter = chosen.map((form) => form.exec(line)).find((match) => match !== null);
    if (letter != null) return candidateIn(end, letter[1]!, letter[1]!, end.indexOf(letter[0], start));
  }
  const sentences = last
    .replace(/\s\([A-Z][^()]*[.!]\)$/, '')
    .split(/\n|(?<=[.!?।])\s|(?<=\$\$|\\\]|\.\$)\s?(?=[A-Z][a-z]*\b)/);
  return statedFirst(end, sentences.at(-1)!) ?? saidLast(end, sentences);
}

/** A response of few words. */
export function fewWords(text: string): Candidate | undefined {
  const line = withoutMarks(text.slice(text.trimEnd().lastIndexOf('\n') + 1));
  return line === '' || text.length > 60 || /\d/.test(text) ? undefined : candidateIn(text, line);
}

const heading =
  '(?:(?:final |short )?answer|(?:detailed )?solution|explanation|proof|steps?|note|summary|result)';
const boldOpening = String.raw`\*\*([^*\n]{1,40})\*\*[.:]?(?=\s*[\n—–-]|$)`;
const reply = String.raw`(?:yes|no|true|false)(?=(?:[.!:]|\s?[—–])(?!\s?(?:I|We|Let|There)\b)[^\n]+$)`;
const letter = String.raw`(?:[A-J]|\([A-J]\))(?=,?\s(?:because|since|as)\b|\s?[—–])`;
/** A short text in bold that a response begins with, a letter or yes or no, or its first line. An explanation follows. */
const headline = new RegExp(
  String.raw`^(?!\W*${heading}\b)(?:${boldOpening}|(${reply}|${letter})|([^\n]{1,40})\n\s*\n)`,
  'i',
);
const concludes =
  /^\W*(?:so|thus|hence|therefore|wait|actually|in total|finally|the (?:final )?(?:answer|result|total|sum|value) is)\b/i;

/** The answer that a response begins with, unless its last sentence concludes something. */
function statedFirst(text: string, last: string): Candidate | undefined {
  const [, bold, reply = bold, line = reply] = headline.exec(text) ?? [];
  if (line === undefined || concludes.test(last)) return;
  const answer = withoutMarks(line).replace(/\.$/, '');
  const isAnswer = reply !== undefined || (isFormula(answer) && !/^\d+[.)]$/.test(line));
  return isAnswer ? candidateIn(text, answer, lastSide(answer)) : undefined;
}

/** A check, good wishes, and a reason with digits for words: "Since 7 and 12 have no common factor, the fraction is in lowest terms." */
const remark =
  /^(?:since|because|as)\b[^.]*,\s(?:the|an?|all|both|no)\b\D*$|^(?:I hope|hope |let me (?:know|verify|check|double)|check\b|verif|as a check|feel free|plugging (?:it|this|that) back|would you|sorry\b)/i;

/** The value that the last concluding sentence says: a number, a date, a verdict, its only words in bold, or what something is. */
function saidLast(text: string, sentences: readonly string[]): Candidate | undefined {
  const sentence =
    sentences.findLast((one) => (/\d/.test(one) ? !remark.test(one) : isSaidInWords(one))) ??
    sentences.at(-1)!;
  const start = text.lastIndexOf(sentence);
  const verdict = verdictOf(sentence);
  if (verdict !== undefined) return { answer: verdict, at: text.length, end: text.length };
  const bold = sentence.match(/\*\*[^*]+\*\*/g) ?? [];
  const only = bold.length === 1 ? withoutMarks(bold[0]!) : '';
  if (/\d/.test(sentence))
    return agreeAsDates(only, only) ? candidateIn(text, only, only, start) : saidIn(sentence, start);
  const words =
    only || (said.exec(sentence)?.[1] ?? (/\s\S+\s/.test(sentence) ? onlyNumberIn(sentence) : undefined));
  return words === undefined ? undefined : candidateIn(text, words, withoutMarks(words), start);
}

/** The yes or no of a sentence, or its words for "no solutions". */
function verdictOf(given: string): string | undefined {
  const sentence = given.replace(/,\s(?:since|because|as)\b.*$/, '');
  const [begin = '', reply, truth] = yesOrNo.exec(sentence) ?? [];
  const [before = '', ...digits] = sentence.slice(begin.length).split(/(?=\d)/);
  if (digits.length > 0 && copula.test(before)) return;
  return reply ?? truth ?? (digits.length > 0 ? undefined : solutions.exec(sentence)?.[1]);
}

/** Whether a sentence without digits concludes something. */
const isSaidInWords = (sentence: string) =>
  verdictOf(sentence) !== undefined ||
  onlyNumberIn(said.exec(sentence)?.[1] ?? (concludes.test(sentence) ? sentence : '')) !== undefined;

/** The number of a step or an equation, which is no result. */
const label =
  /\b(step|equation|eq\.|page|part|case|line|problem|question|figure|table|section|exercise|example)s?\s*[(#]?\d+\)?/gi;

/** The only formula or number of a sentence, or what it says that something is. It stands at `start` in its text. */
export function saidIn(given: string, start = 0): Candidate | undefined {
  const sentence = conclusion(given.replace(label, (words) => words.replace(/\d/g, ' ')));
  const take = (part: string, answer = part, index = sentence.indexOf(part)) => ({
    ...{ answer, at: start + index, end: start + index + part.length },
  });
  const formulas = [...sentence.matchAll(spans)].filter(([formula]) => /\d/.test(formula));
  const amount = hedge.test(lastClause(sentence)) ? undefined : counted.exec(sentence)?.[1];
  if (amount !== undefined) return take(amount);
  const last = formulas.at(-1);
  if (last !== undefined && isStated(sentence, last, formulas.length === 1))
    return take(last[0], lastSide(last[0]), last.index);
  const several = severalValues.exec(sentence)?.[0];
  if (several !== undefined) return take(several);
  const side = sentence.split(/=|\s(?:makes?|yields?|totals?|comes? to)\s/).at(-1)!;
  const isWhole = side === sentence;
  const words = isWhole ? said.exec(sentence)?.[1] : side;
  if (isWhole && words !== undefined && isFormula(words)) return take(words);
  const numbers = inexact.test(side) ? [] : [...side.matchAll(number)];
  const stated = numbers.at(-1);
  if (stated !== undefined && isStated(side, stated, numbers.length === 1))
    return take(stated[0], withUnit(stated, side), sentence.length - side.length + stated.index);
  return words === undefined ? undefined : take(words, words.trim());
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
  /(?:\b(?:is|are|was|be|equals?|equal to|gives?|yields|leaves|leaving|makes|(?:total|answer|remainder|result|sum) of|we (?:get|have|find|obtain)|(?:s?he|they|it|you) (?:has|have|had|gets?|needs?|takes?|costs?|pays?|earns?|owes?))|=|:)\s(?:(?:just|simply|exactly|only|then|therefore|thus)\s)?$/i;

/** Whether a part of a sentence is what it says: the only one with digits, or the last one and said to be something. Ordinals are words. */
function isStated(sentence: string, { 0: part, index }: RegExpExecArray, isOnly: boolean): boolean {
  if (isOnly && !/\d/.test(sentence.replace(part, '').replace(/\d+(?:st|nd|rd|th)\b/g, ''))) return true;
  if (hedge.test(lastClause(sentence))) return false;
  return copula.test(sentence.slice(0, index).slice(-60)) && !/\d/.test(sentence.slice(index + part.length));
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
  if (foreignLetter.test(line) || !/[\p{L}\p{N}\\]/u.test(line)) return false;
  const words = line.replace(/\\[a-zA-Z]+(?:\{[a-zA-Z ]+\})?/g, ' ').match(/[a-zA-Z]{2,}/g) ?? [];
  return words.every((word) => formulaWord.test(word) || isUnit(word));
}
