import { parseOptions, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { withoutTwins } from '../equal/number-words.ts';
import { decimalDigit, shownText, trimmed, withoutThoughts } from '../text.ts';
import { boxedAnswer } from './boxes.ts';
import { type Candidate, candidateIn } from './candidate.ts';
import { closingAnswer } from './closing-answer.ts';
import { jsonAnswer } from './json-answer.ts';
import { lastSide } from './last-side.ts';
import { numberIn } from './number-in.ts';
import { isLeftOpen } from './offers.ts';
import { isFormula, saidIn } from './said.ts';
import { conclusion, gaveUp, stanceAt, withoutRetracted } from './stances.ts';
import { withoutMarks } from './statements.ts';
import { valuesIn } from './values.ts';

const hashed = /#### (-?[0-9.,]+)/g;
const numeric = /-?[0-9.,]+/g;
/** Marks around a word: Markdown's, quotes, and tags that close. */
const marks = '(?:[*_"]|</[a-z]{1,8}>){0,4}';
const answerWord =
  'answer|tl;?dr(?=:)|\\b(?:final|bottom line|conclusion)(?=:)|(?:correct|right|best) (?:option|choice)|solution(?: set)?(?!\\s{0,3}:\\s*\\n)|答案|答え|정답|답|ответ|respuesta|réponse|antwort|risposta|resposta|cevap|jawaban|الجواب|الإجابة';
const equalsWord =
  '(?:is|equals|should be|would be|must be|has to be|es|ist|est|è|é)\\b\\s{0,8}:?|[-=]>|→|[:=：]|هو|هي|是|为|為|は|는|은';
const adverb =
  'therefore|thus|hence|then|simply|just|exactly|clearly|actually|also|daher|somit|donc|alors|quindi|dunque|portanto|por (?:lo )?tanto|par conséquent|pues|dus';
/** "The answer is", and the same of other languages. */
const phrase = new RegExp(
  `(?:${answerWord})(?: (?:finale?|correct[ae]|corretta|exacte|esatta))?${marks}\\s{0,8}(?:${equalsWord}|,(?=\\s[^\\s,]{1,20},\\s[a-z])|(?<=final answer[*_]{0,4}\\s{0,8})\\n)(?:,?\\s?(?:${adverb})\\b[\\s,]|[*_\\s]|</[a-z]{1,8}>|(?:\\$\\$|\\\\\\[)\\s*\\n){0,8}`,
  'giu',
);
const label = /answer\s{0,8}:\s{0,8}/gi;

/** The number after `#### `, commas removed: the first one of a text, or the last. `undefined` if there is none. */
export function hashAnswer(text: string, occurrence: 'first' | 'last' = 'last'): string | undefined {
  requireArguments('hashAnswer', { text: 'text', occurrence: 'text?' }, text, occurrence);
  let found: string | undefined;
  for (const match of text.matchAll(hashed)) {
    found = match[1]!;
    if (occurrence === 'first') break;
  }
  return found?.replaceAll(',', '');
}

/** What stands between the first `####` and the next one, or the end, trimmed; `undefined` without one. As verifiers reads it. */
export function hashSection(text: string): string | undefined {
  requireArguments('hashSection', { text: 'text' }, text);
  const section = text.split('####', 2)[1];
  return section === undefined ? undefined : trimmed(section);
}

/**
 * The last run of digits, points and commas with a digit in it, sign included, commas kept.
 *
 * @param digits - `'optional'`: a run without one will do, and a lone point where there is nothing else (verl). Default `'needed'`.
 */
export function lastNumber(text: string, digits: 'needed' | 'optional' = 'needed'): string | undefined {
  requireArguments('lastNumber', { text: 'text', digits: 'text?' }, text, digits);
  let found: string | undefined;
  for (const [run] of text.matchAll(numeric)) {
    if (digits === 'needed' ? /\d/.test(run) : found === undefined || run !== '.') found = run;
  }
  return found;
}

/**
 * What follows the last "answer is", "answer:" or "answer =" of a text, up to the end of the line or sentence, without Markdown's
 * asterisks and backticks around it (`'sentence'`, default); or what follows the last "answer:", up to the end of the line (`'line'`, as Minerva and DAPO read).
 */
export function answerPhrase(text: string, reading: 'sentence' | 'line' = 'sentence'): string | undefined {
  requireArguments('answerPhrase', { text: 'text', reading: 'text?' }, text, reading);
  return phraseIn(text, reading)?.answer;
}

function phraseIn(text: string, reading: 'sentence' | 'line'): Candidate | undefined {
  let at: number | undefined;
  for (const match of text.matchAll(reading === 'line' ? label : phrase)) at = match.index + match[0].length;
  if (at === undefined) return;
  const lineEnd = text.indexOf('\n', at);
  const line = text.slice(at, lineEnd < 0 ? undefined : lineEnd);
  const said = reading === 'line' ? line : firstSentence(line);
  const answer = trimmed(reading === 'line' ? line : withoutMarks(said));
  return answer === '' ? undefined : { answer, at, end: at + said.length };
}

/** The last answer in tags that ends behind a place. */
function taggedAfter(text: string, place: number): Candidate | undefined {
  const found = [...text.matchAll(/<(answer|final_answer|final|result)>([^<>]{1,300})<\/\1>/gi)].at(-1);
  const end = found === undefined ? 0 : found.index + found[0].length;
  return found && end > place ? candidateIn(text, found[2]!, found[2], found.index) : undefined;
}

/** What ends the first sentence of a line, one form a line: a mark, the end of a sentence in Asia, a reason, what it is not, a remark. */
const sentenceEnd = new RegExp(
  [
    /(?:(?<!\bi\.e)[.?]|!(?!\s*[\\}=)$]))[*`]{0,4}(?:\s|$)/.source,
    String.raw`[。！？।]|\s?(?:です|である|입니다)`,
    String.raw`,?\s(?:because|since|which)\b|,\s(?:follows|comes|results|agrees|matches|can be)\b`,
    String.raw`(?:,\s|\s\()(?:and\s)?(?:not|rather than|instead of)\s+\S`,
    String.raw`\s\((?:that|this|it|which|since|because|the same|equivalently|i\.e)\b|,\s(?:provided|assuming|given|as)\b`,
  ].join('|'),
);

/** A line up to the end of its first sentence. Markdown may close before the next word. A question keeps its mark. */
function firstSentence(line: string): string {
  const end = line.search(sentenceEnd);
  return end < 0 ? line : line.slice(0, line[end] === '?' ? end + 1 : end);
}

/** Boxes that LaTeX does not print, tags of layout and with attributes, links and their targets, and sums for a calculator: `<<2*9=18>>`. */
const comments =
  /\s?\(\[[^\]\n]{0,80}\]\(https?:[^()\n]*\)\)|<\/?(?:span|div|font|a|p)>|\((?<=\]\()(?:#|\/|https?:)[^()\n]*\)|<<[-+*/=().,%$\d\s]{1,100}>>|<[a-z]\w*(?:\s[a-z-]+\s?=\s?(?:"[^"<]*"|'[^'<]*'|[^\s<>"']+))+\s*\/?>|(?<=[}$.])\s{1,4}%[^\n]{0,200}\\boxed[^\n]*/g;
/** An answer that is a sentence: "Janet makes $18 every day", "вероятность равна 1/4". */
const sentenceStart =
  /^(?:[A-Z][a-z'’]+\s[a-z]+|(?:o|el|les?|l[ao]s?|il|die|der|das)\s\p{L}+|(?![\p{Script=Latin}\p{Script=Greek}])\p{L}{2,}\s\p{L}{2,})\s\S/u;
/** A formula with what it is, and a number with the word that counts things: "the interval $(2, 3]$", "300円". */
const named = /^(?:the|an?)\s(?!.*\bof\b)[a-z ]{1,40}\$[^$]+\$$|^[\d.,]+\s?(?!\p{Script=Latin})\p{L}{1,3}$/u;

/** A text without what it quotes: lines with `>` before other lines, and sentences between quotation marks. */
function withoutQuotations(text: string): string {
  const lines = text.split('\n');
  const own = lines.findLastIndex((line) => /^(?![>\s])/.test(line) && line !== '');
  const said = lines.filter((line, index) => index >= own || !line.startsWith('> ')).join('\n');
  return said.replace(
    /(?<![\w:{[]\s{0,3})(?:"(?=[A-Z])[^"\n]{12,300}"|“[^“”\n]{12,300}”|«[^«»\n]{12,300}»)/g,
    '“…”',
  );
}

/** A minus sign of another form, or a dash in its place. A hyphen with a space is a bullet: no answer of GSM8K is written so, and its graders read none. */
const minus = /[−﹣－⁻➖](?=\p{Nd})|(?<=#### ?)(?:[-‐–]|[‐–] )(?=\p{Nd})/gu;

/** A text with ASCII digits and signs. One in capitals is written as others are, but for single letters. */
function inUsualForm(text: string): string {
  const written = text
    .replace(minus, '-')
    .replace(/(?!\d)\p{Nd}/gu, decimalDigit)
    .replace(/(?<![\w\\}.])\d{1,3}(?:\\?_\d{3})+(?!\w)/g, (number) => number.replaceAll(/\D/g, ''));
  const timed = written.replace(
    /(?<=:\d\d|^(?:[Aa]t )?\d\d?|\bat \d\d?|o['’]clock) in the (morning|afternoon|evening)\b/g,
    (_, part) => (part === 'morning' ? ' a.m.' : ' p.m.'),
  );
  const isForeign = !english.test(text) && new Set(text.match(foreign)).size > 1;
  const plain = inSigns(
    isForeign
      ? timed.replace(/(?<![\d.,])[1-9]\d{0,2}\.\d\d0(?![\d.,]*\d)/g, (number) => number.replace('.', ''))
      : timed,
  );
  return /\p{Ll}|\p{Lu}[\d₀-₉]/u.test(text)
    ? plain
    : plain.replace(/\p{Lu}{2,}/gu, (word) => word.toLowerCase());
}

const bounds = new Map([
  ['≥', String.raw`at least|no(?:t| )\s?less than|(?:greater|more|larger|bigger) than or equal to`],
  ['≤', String.raw`at most|no(?:t| )\s?(?:more|greater) than|(?:less|smaller) than or equal to`],
  ['>', '(?:strictly )?(?:greater|more|larger|bigger) than'],
  ['<', '(?:strictly )?(?:less|smaller) than'],
]);
const bound = `(${[...bounds.values()].join('|')}) ([-−$\\\\]{0,2}\\d[^\\s,;]*(?<![.,;]))`;
const inWords = new RegExp(
  `(?<![\\p{L}\\d])(?:\\$?([b-hj-z])\\$? (?:is|must be|has to be|can be)|(?:[Aa]ll )?(?:real )?numbers(?: that are)?) ${bound}(?: (?:and|but) ${bound})?`,
  'gu',
);

/** "x is at least 4" and "x must be greater than −1 and less than 3" as inequalities. */
function inSigns(text: string): string {
  return text.replace(inWords, (_, name = 'x', first, value, second?: string, other?: string) => {
    const signOf = (words: string) =>
      [...bounds].find(([, form]) => new RegExp(`^(?:${form})$`).test(words))![0];
    const [sign, plain] = [signOf(first), (number = '') => number.replaceAll('$', '')];
    if (second === undefined) return `${name} ${sign} ${plain(value)}`;
    return `${plain(value)} ${'≤≥><'['≥≤<>'.indexOf(sign)]} ${name} ${signOf(second)} ${plain(other)}`;
  });
}

/** Words of languages that part thousands by points. */
const foreign =
  /(?<!\p{L})(?:ist|sind|und|ein|eine|hat|beträgt|also|est|sont|une|donc|es|son|una|los|são|uma|sono|della|er|van)(?!\p{L})/giu;
const english = /\b(?:the|is|are|of|and|so)\b/i;

/** A line that is a number or a choice and signs around it, perhaps behind "Answer:". */
const bareNumber =
  /^(?:[^\p{L}\p{N}]*[Aa]nswer(?=[^\p{L}\p{N}]*[:=]))?[^\p{L}\p{N}=+×÷\\/]*(-?\d[\d.,]*|[A-J](?![\p{L}\p{N}]))[^\p{L}\p{N}]*$/u;

/** Whether the last two lines are different numbers or choices alone: a list of guesses. */
function isListed(text: string): boolean {
  const [before, last] = text
    .trimEnd()
    .slice(-200)
    .split(/\n\s*/)
    .slice(-2)
    .map((line) => bareNumber.exec(line)?.[1]);
  const [one, other] = [before, last].map((said) =>
    said?.replace(/,(?=\d{3})|[.,]+$/g, '').replace(/\.0+$/, ''),
  );
  return one !== undefined && other !== undefined && one !== other;
}

/** Whether the last line has nothing but several numbers. One may have its thousands apart. */
function areGuesses(text: string): boolean {
  const line = text.trimEnd().slice(-200).split('\n').at(-1)!;
  const isBare = /^[\s\d.,;|/&-]+$/.test(line) && !/^-?\d{1,3}(?: \d{3})+$/.test(line);
  return isBare && new Set(line.match(/\d+(?:[.,]\d+)*/g)).size > 1;
}

/** Digits in groups of three, or of two before the last as in India. */
const grouped = /(?<![\d,.])\d{1,3}(?:,\d{2,3})*,\d{3}(?=[,.]*$|\.\d)/;

/** What the places say; `null` for a box that is denied or not closed, so that nothing else is read. */
const readers = {
  boxed: boxedAnswer,
  hash(text: string) {
    const start = text.lastIndexOf('####');
    const line =
      /^#### ?(?:[-+*•] )?(-?(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?=[^\d.,]|$)|[\d.,]+))([^\n]*)/.exec(
        text.slice(start),
      );
    const before = text.slice(Math.max(0, start - 40), Math.max(0, start));
    if (/#### [^\n]+$/.test(before)) return null;
    if (/^#### ?(?:or|and|maybe|perhaps|not)\b/i.test(text.slice(start, start + 20))) return null;
    const [whole, number, rest] = line ?? ['', hashAnswer(text, 'last'), ''];
    if (number === undefined) return;
    // A list of guesses.
    const listed = /#### ?(-?[\d.,]+)[^\n\d]*\n\s*$/.exec(before)?.[1];
    if (listed !== undefined && listed !== number) return null;
    const other = /^(?:\s*(?:or|and|to|[-–|])|(?=\s[\s\d.,]*$))\s*(\d[\d.,]*)/.exec(rest!)?.[1];
    if (other !== undefined && isLeftOpen(`, or ${other}`, number)) return null;
    const isLonger = /^\s*[/^*\\π√]|^[a-z]|^\s(?:hundred|thousand|[bmtr]+illion)\b/i.test(rest!);
    const end = start + whole.length - (isLonger ? 0 : rest!.length);
    return {
      answer: isLonger
        ? number + rest!
        : number
            .replace(/\s/g, '')
            .replace(grouped, (text) => text.replaceAll(',', ''))
            .replace(/(?<![,.])[,.]+$/, ''),
      at: start,
      end,
    };
  },
  phrase(text: string) {
    if (isListed(text)) return null;
    const json = jsonAnswer(text);
    if (json !== undefined) return json;
    const phrased = phraseIn(text, 'sentence');
    const found = taggedAfter(text, phrased?.at ?? 0) ?? phrased;
    if (found === undefined) return;
    if (found.answer.length > 1000) return found;
    const said = conclusion(found.answer).trim();
    const at = text.indexOf(said, found.at);
    const values = isFormula(said) ? [] : valuesIn(said);
    const isSentence =
      values.some(({ saidBy }) => saidBy !== undefined) || sentenceStart.test(said) || named.test(said);
    // What stands behind a colon is said.
    return isSentence ? saidIn(`: ${said}`, at - 2) : candidateIn(text, said, lastSide(said), at);
  },
  sentence: (text: string) => (isListed(text) ? null : closingAnswer(text)),
  number(text: string) {
    const found = lastNumber(text);
    if (found === undefined) return;
    if (isListed(text) || areGuesses(text)) return null;
    const at = text.lastIndexOf(found);
    const scale = /^\s(?:dozen|hundred|thousand|million|billion|trillion)\b/.exec(
      text.slice(at + found.length),
    );
    const answer = found + (scale?.[0] ?? '');
    return { answer, at, end: at + answer.length };
  },
} satisfies Record<string, (text: string) => Candidate | null | undefined>;

const schema = z.strictObject({
  /**
   * Places to look in, in order: {@link lastBoxed}, {@link hashAnswer}, {@link answerPhrase}, what the last sentence says
   * (`'sentence'`), {@link lastNumber}. The first that has an answer gives it. Required.
   */
  from: z
    .array(z.enum(['boxed', 'hash', 'phrase', 'sentence', 'number']))
    .min(1)
    .readonly(),
  /** Number of last characters that are read (verl reads 300). Default: all. */
  within: z.int().positive().optional(),
});

/** Options of {@link finalAnswer}. */
export interface FinalAnswerOptions extends z.input<typeof schema> {}

/**
 * Makes a function that reads the final answer of a response, for the `extract` option of answer rewards. Comments are not
 * read, nor is an answer that the words around it deny ("the answer is not 18").
 *
 * @throws OptionsError for no place to look in, or one that is not known.
 */
export function finalAnswer(options: FinalAnswerOptions): (text: string) => string | undefined {
  const { from, within } = parseOptions('finalAnswer', schema, options);
  return (text) => {
    const shown = shownText(text).replaceAll(comments, '');
    const own = withoutRetracted(withoutQuotations(withoutThoughts(shown)));
    const visible = withoutTwins(inUsualForm(own));
    if (gaveUp.test(visible.slice(-200))) return;
    const read = within === undefined ? visible : visible.slice(-within);
    return answerIn(read, from) ?? undefined;
  };
}

/** The first answer that the places say. What stands before a value that is not asserted, and that value, do not count. */
function answerIn(text: string, from: readonly (keyof typeof readers)[]): string | null | undefined {
  for (const place of from) {
    const found = readers[place](text);
    if (found === undefined) continue;
    const answer = found?.answer.trim() ?? '';
    if (found === null || answer === '') return null;
    const stance = stanceAt(text, found);
    // A box or a tag holds what the question asks for, also behind "at least" or "my best guess".
    const isTagged = /<\w+>\s*$/.test(text.slice(Math.max(0, found.at - 30), found.at));
    const isAnswer = (place === 'boxed' && stance === 'bounds') || (isTagged && /hedges|bounds/.test(stance));
    if (stance === 'asserts' || isAnswer) {
      if (isLeftOpen(text.slice(found.end), answer)) return null;
      if (place === 'boxed') return otherwiseNamed(text, { ...found, answer });
      return place === 'phrase' ? revised(text, { ...found, answer }) : answer;
    }
    if (!/\d/.test(answer)) continue;
    const next = /[.!?]\s|[。！？\n]/.exec(text.slice(found.end));
    return next === null ? null : (answerIn(text.slice(found.end + next.index + 1), from) ?? null);
  }
  return;
}

/** A number in a box, or the one that is named as the answer behind it. */
function otherwiseNamed(text: string, { answer, end }: Candidate): string {
  const rest = text.slice(end);
  const later = phraseIn(rest, 'sentence');
  if (later === undefined || stanceAt(rest, later) !== 'asserts') return answer;
  const [boxed, named] = [answer, later.answer].map(numberIn);
  return boxed === undefined || named === undefined || named.equals(boxed) ? answer : later.answer;
}

/** An answer, or the number that the sentences behind it say instead without naming it again. */
function revised(text: string, { answer, end }: Candidate): string {
  const rest = text.slice(end).replace(/^.*?(?:[.!?]\s|[。！？]|\n|$)/, '');
  const number = /\d[\d.,]*\d|\d/.exec(answer)?.[0];
  if (number === undefined || rest.includes(number)) return answer;
  const later = closingAnswer(rest);
  if (later === undefined || !/\d/.test(later.answer) || stanceAt(rest, later) !== 'asserts') return answer;
  const from = Math.max(0, later.at - 300);
  const [value] = valuesIn(rest.slice(from, later.end)).filter(({ at }) => from + at === later.at);
  return value?.saidBy === undefined ? answer : later.answer;
}
