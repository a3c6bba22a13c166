import { onlyNumberIn } from '../equal/number-words.ts';
import { lastSide } from './last-side.ts';
import { isConclusive, isFormula, saidIn, saidInWords, verdictOf } from './said.ts';
import { type Candidate, candidateIn, refusal } from './stances.ts';
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
  /\bonly\s+(?:option|choice|answer)\s+(\([A-J]\)|[A-HJ])\b(?!['’])/i,
  /\b(?:option|choice|answer|choose|pick|select|go with|lea(?:ves?|ving)|[Hh]ence|[Tt]hus|[Tt]herefore|[Ss]o|is|so (?:it|the answer) must be|it['’]s)\s+(?:(?:answer|option|choice)\s+){0,2}(\([A-J]\)|[A-HJ])(?:[.!]?$|,?\s(?:it is|because|since|as)\b)/,
  /^(?:(?:Therefore|Thus|Hence|So),?\s+)?(?:(?:[Tt]he\s+)?(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s+)?(\([A-J]\)|[A-HJ])\s+is\s+(?:the\s+)?(?:correct|right|best)(?:\s+(?:answer|option|choice))?(?:[.!]?$|,?\s+(?:and|while|because|since)\b)/,
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
  const statements = statementsOf(last.replace(/\s\([A-Z][^()]*[.!]\)$/, '')).map(({ text: one, at }) => ({
    ...{ text: one, at: base + at },
  }));
  const lastSaid = statements.findLastIndex(({ text: one }) => /\d/.test(one) || !courtesy.test(one));
  const kept = statements.slice(0, lastSaid + 1);
  const final = kept.at(-1);
  if (final === undefined) return;
  const said = kept.length === statements.length ? end : end.slice(0, final.at + final.text.length);
  return onlyFormula(said, final) ?? statedFirst(said, final.text) ?? saidLast(end, kept);
}

/** A response that is a number and up to three words: `12 red apples`. */
const amount = /^(?:\\text\s*\{)?-?[\d$€£][\d.,]*(?:\s[a-z][a-z/^\d]*){1,3}\}?\.?$/i;

/** `16 girls, 12 boys`. */
const amounts = /^\d[\d.,]*\s[a-z]+(?:,?\s(?:and\s)?\d[\d.,]*\s[a-z]+)+\.?$/i;
/** The last side of a calculation, in bold type. */
const boldSide = /[=≈]\s*\*\*([^*\n]+)\*\*[.!]?\s*$/;

/** A statement that is a formula, or the choice of a letter. */
function onlyFormula(text: string, { text: given, at }: Statement): Candidate | undefined {
  const line = withoutMarks(given);
  if (line.length <= 300 && (isFormula(line) || amount.test(text) || amounts.test(line))) {
    const [only, other] = valuesIn(line);
    const isWhole = only?.saidBy === 'equation' || /^[.\s]*$/.test(line.replace(only?.text ?? '', ''));
    const side = boldSide.exec(given)?.[1] ?? (only && !other && isWhole ? only.answer : lastSide(line));
    return candidateIn(text, line, side, at);
  }
  const word = text.replace(/\.$/, '');
  if (/^\p{L}+$/u.test(word) && onlyNumberIn(word) !== undefined) return candidateIn(text, word, word);
  const letter = chosen.map((form) => form.exec(line)).find((match) => match !== null);
  return letter ? candidateIn(text, letter[1]!, letter[1]!, text.indexOf(letter[0], at)) : undefined;
}

const heading =
  '(?:(?:final |short )?answer|(?:detailed )?solution|explanation|proof|steps?|note|summary|result)';
const boldOpening = String.raw`\*\*([^*\n]{1,40})\*\*[.:]?(?=\s*[\n—–-]|$)`;
const reply = String.raw`(?:yes|no|true|false)(?=(?:[.!:]|\s?[—–])(?!\s?(?:I|We|Let|There)\b)[^\n]+$)`;
const letter = String.raw`(?:[A-J]|\([A-J]\))(?=[.,]?\s(?:because|since|as)\b|\.\snot\b|\s?[—–])`;
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

/** What the last concluding statement says. */
function saidLast(text: string, statements: readonly Statement[]): Candidate | undefined {
  const concluding = statements.findLastIndex(({ text: one }) =>
    /\d/.test(one) ? !remark.test(one) : isConclusive(one),
  );
  const index = concluding < 0 ? statements.length - 1 : concluding;
  if (statements.slice(index + 1).some(({ text: later }) => goesOn.test(later))) return;
  const { text: sentence, at } = statements[index]!;
  const verdict = verdictOf(sentence);
  if (verdict !== undefined) return { answer: verdict, at: text.length, end: text.length };
  const named = boldAtEnd.test(sentence) ? saidInWords(text, sentence, at) : undefined;
  if (named !== undefined) return named;
  const value = saidIn(sentence, at, () => lastWorkedOut(statements.slice(0, index)));
  return value ?? (/\d/.test(sentence) ? undefined : saidInWords(text, sentence, at));
}

/** The last value that statements say something to be. */
function lastWorkedOut(statements: readonly Statement[]): Value | undefined {
  for (const { text } of [...statements].reverse()) {
    const value = valuesIn(text).findLast(({ saidBy }) => saidBy !== undefined);
    if (value !== undefined) return value;
  }
  return;
}
