import { valueInWords, withUnitInWords } from '../equal/number-words.ts';
import { isUnit } from '../equal/units.ts';
import { type Candidate, candidateIn } from './candidate.ts';
import { lastSide } from './last-side.ts';
import { isConclusive, isFormula, label, saidIn, saidInWords, verdictOf } from './said.ts';
import { conclusion, refusal } from './stances.ts';
import {
  concludes,
  courtesy,
  goesOn,
  remark,
  type Statement,
  statementsOf,
  withoutMarks,
} from './statements.ts';
import { type Value, valuesIn } from './values.ts';

/** A text that is a tag with the answer. */
const tagged = /<(answer|final|solution|result)>([^<>]*)<\/\1>$/i;

/** A sentence that breaks off. */
const unfinished = /\s(?:and|or|the|of|by|to|with|plus|minus|times|is|are|we|that)$/;

/** A letter that a sentence chooses. */
const chosen = [
  /^[^():,]{3,40}\s\(([A-J])\)\sis\s(?:the|an?|right|correct)\b(?!.*(?:\([A-J]\)|\b(?:not|false|wrong|incorrect|but|distractor|trap|worst|least|guess)\b|n['’]t))/,
  /^(?:[Ss]o )?[Oo]nly (\([A-J]\)|[A-HJ]) (?:satisfies|works|fits|meets|remains|is (?:left|right|correct|true))(?!.*\b(?:[B-HJ]|if|but|no|not|none|nothing|neither|wrong)\b)/,
  /^(?:(?:So|Thus|Hence|Therefore)\b(?!.*\b(?:wrong|incorrect|false|eliminate|exclude|not)\b)[^:]*|.*\b(?:choice|option|answer)(?: is)?):\s(\([A-J]\))[.!]?$/,
  /\bonly\s+(?:option|choice|answer)\s+(\([A-J]\)|[A-HJ])\b(?!['’])/i,
  /\b(?:option|choice|answer|choose|pick|select|go with|lea(?:ves?|ving)|[Hh]ence|[Tt]hus|[Tt]herefore|[Ss]o|is|so (?:it|the answer) must be|[Ii]t['’]s)\s+(?:(?:answer|option|choice)\s+){0,2}(\([A-J]\)|[A-HJ])(?:[.!]?$|,?\s(?:it is|because|since|as)\b|,\s(?:the|an?)\s(?!.*\b(?:would|but|not|no)\b))/,
  /^(?:(?:Therefore|Thus|Hence|So),?\s+)?(?:(?:[Tt]he\s+)?(?:[Oo]ption|[Cc]hoice|[Aa]nswer|[Ss]tatement)\s+)?(\([A-J]\)|[A-HJ])(?:,\s[^,]{1,40},)?\s+is\s+(?:the\s+)?(?:only\s+)?(?:correct|right|best|true)(?:\s+(?:answer|option|choice|one))?(?:[.!]?$|,?\s+(?:and|while|because|since)\b)(?!.*\b[A-J]\)? is (?:also )?(?:correct|true|right)\b)/,
];

/**
 * What the end of a text says: its last statement if that is a formula or a choice, or what the text begins with, or what the last of its
 * statements that concludes something says.
 */
export function closingAnswer(text: string): Candidate | undefined {
  const end = text.trimEnd();
  const last = end.slice(-2000);
  const base = end.length - last.length;
  const tag = tagged.exec(last);
  if (tag !== null) return candidateIn(text, tag[2]!, tag[2], base + tag.index);
  if (refusal.test(last) || unfinished.test(last)) return;
  const statements = statementsOf(last.replace(/\s\([A-Za-z][^()]*[.!]\)$/, '')).map(({ text: one, at }) => ({
    ...{ text: one, at: base + at },
  }));
  const lastSaid = statements.findLastIndex(
    ({ text: one }) => /\d/.test(one.replace(label, '')) || !courtesy.test(one),
  );
  const kept = statements.slice(0, lastSaid + 1);
  const final = kept.at(-1);
  if (final === undefined) return;
  const said = kept.length === statements.length ? end : end.slice(0, final.at + final.text.length);
  return onlyFormula(said, final) ?? statedFirst(said, final.text) ?? saidLast(end, kept);
}

/** A response that is a number and up to three words: `12 red apples`. */
const amount = /^\d+ to \d+\.?$|^(?:\\text\s*\{)?-?[\d$€£][\d.,]*(?<!,)(?:\s[a-z][a-z/^\d]*){1,3}\}?\.?$/i;

/** `16 girls, 12 boys`. */
const amounts = /^\d[\d.,]*\s[a-z]+(?:,?\s(?:and\s)?\d[\d.,]*\s[a-z]+)+\.?$/i;
/** The last side of a calculation, in bold type. */
const boldSide = /[=≈]\s*\*\*([^*\n]+)\*\*[.!]?\s*$/;

/** A statement that is a formula, or the choice of a letter. */
function onlyFormula(text: string, { text: given, at }: Statement): Candidate | undefined {
  const line = withoutMarks(given).replace(/^(?:so )?there (?:are|is) (?=\d+ [a-z]+(?:,| and) \d)/i, '');
  if (line.length <= 300 && (isFormula(line) || amount.test(text) || amounts.test(line))) {
    const [only, other] = valuesIn(line);
    const rest = line.replace(only?.text ?? '', '');
    const letter = /(?<!\p{L})\p{L}(?!\p{L})/u.exec(rest)?.[0];
    const isFurther = /[\d=+*/^_√(²³]/.test(rest) || (letter !== undefined && !isUnit(letter));
    const isWhole = /^[.\s]*$/.test(rest) || (only?.saidBy === 'equation' && !isFurther);
    const side = boldSide.exec(given)?.[1] ?? (only && !other && isWhole ? only.answer : lastSide(line));
    return candidateIn(text, line, side, at);
  }
  const word = text.replace(/\.$/, '');
  const words = word.length < 60 ? word.toLowerCase() : '';
  if ((valueInWords(words) ?? withUnitInWords(words)) !== undefined)
    return { answer: word, at: 0, end: word.length };
  const letter = chosen.map((form) => form.exec(line)).find((match) => match !== null);
  return letter ? candidateIn(text, letter[1]!, letter[1]!, text.indexOf(letter[0], at)) : undefined;
}

const heading =
  '(?:(?:final |short )?answer|(?:detailed )?solution|explanation|proof|steps?|note|summary|result)';
const boldOpening = String.raw`\*\*([^*\n]{1,40})\*\*[.:]?(?=\s*[\n—–-]|$)`;
const reply = String.raw`(?:yes|no|true|false)(?=(?:[.!:]|\s?[—–])(?!\s?(?:I|We|Let|There)\b)[^\n]+$)`;
const letter = String.raw`(?:[A-J]|\([A-J]\))(?=[.,]?\s(?:because|since|as)\b|\.\snot\b|\s?[—–]|[.)]\s(?!\w+ed\b)(?!.*\b(?:wrong|incorrect|false|not|no|is|or|but|seems)\b)(?!.*\s\(?[A-J][.)])[a-z][^\n]*$)`;
/** A short text in bold that a response begins with, a letter or yes or no, or its first line. An explanation follows. */
const headline = new RegExp(
  String.raw`^(?!\W*${heading}\b)(?:${boldOpening}|(${reply}|${letter})|([^\n]{1,40})\n\s*\n)`,
  'i',
);

/** The answer that a response begins with, unless its last sentence concludes something. */
function statedFirst(text: string, last: string): Candidate | undefined {
  const [, bold, reply = bold, line = reply] = headline.exec(text) ?? [];
  if (line === undefined || concludes.test(last)) return;
  const answer = withoutMarks(line).replace(/\.$/, '');
  const isCalculation = /=.*=/.test(answer);
  const isAnswer =
    reply !== undefined ||
    (isFormula(answer) && !isCalculation && /^\(?[A-J]\)?$|\d/.test(answer) && !/^\d+[.)]$/.test(line));
  return isAnswer ? candidateIn(text, answer, lastSide(answer)) : undefined;
}

/** The only bold words of a sentence, which ends with them. */
const boldAtEnd = /^[^*]*\*\*[^*\d\\$]+\*\*[.!]?$/;

const species = String.raw`(?:\d{1,2}\s?)?[A-Z][A-Za-z\d₀-₉()]{0,20}`;
const side = String.raw`${species}(?:\s?\+\s?${species}){0,4}`;
/** A chemical equation. */
const reaction = new RegExp(String.raw`(?<![\p{L}\d])${side}\s?(?:[→⟶⇌⇄]|->)\s?${side}(?!.*\d)`, 'u');

/** "The product of 12 and 7 is eighty-four." */
const numberAtEnd = /\b(?:is|are|equals|makes|gives)\s((?:minus\s)?[a-z]+(?:[-\s][a-z]+){0,3})\.?$/i;

/** What the last concluding statement says. */
function saidLast(text: string, statements: readonly Statement[]): Candidate | undefined {
  const concluding = statements.findLastIndex(({ text: one }) =>
    /[\d∞]/.test(one) ? !remark.test(one) : isConclusive(one),
  );
  const index = concluding < 0 ? statements.length - 1 : concluding;
  if (statements.slice(index + 1).some(({ text: later }) => goesOn.test(later) && !remark.test(later)))
    return;
  const { text: sentence, at } = statements[index]!;
  const made = reaction.exec(conclusion(sentence))?.[0];
  if (made !== undefined) return candidateIn(text, made, made, at);
  const verdict = verdictOf(sentence);
  if (verdict !== undefined) return { answer: verdict, at: text.length, end: text.length };
  const named = boldAtEnd.test(sentence) ? saidInWords(text, sentence, at) : undefined;
  if (named !== undefined) return named;
  const value = saidIn(sentence, at, () => lastWorkedOut(statements.slice(0, index)));
  const spelled = numberAtEnd.exec(sentence)?.[1] ?? '';
  if (value === undefined && valueInWords(spelled.toLowerCase()) !== undefined)
    return candidateIn(text, spelled, spelled, at);
  return value ?? (/[\d∞]/.test(sentence) ? undefined : saidInWords(text, sentence, at));
}

/** The last value that statements say something to be. */
function lastWorkedOut(statements: readonly Statement[]): Value | undefined {
  for (const { text } of [...statements].reverse()) {
    const value = valuesIn(text).findLast(({ saidBy }) => saidBy !== undefined);
    if (value !== undefined) return value;
  }
  return;
}
