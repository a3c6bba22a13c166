import { withoutSpans } from './values.ts';

/** A sentence, a line, a cell of a list or a display, and where it stands in its text. */
export interface Statement {
  readonly text: string;
  readonly at: number;
}

/** Ends of statements in a text whose formulas are masked: a display may end one. A short word with a point before a small letter does not. */
const boundary =
  /\n|(?<=[.!?।])(?<!(?<!\p{L})\p{L}{1,3}\.(?=\s[\p{Ll}\d])|\.\.\.(?=\s\()|(?<!\p{N})\d\d?\.(?=\s(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)))\s|(?<=[。！？])|(?<=\0)\s?(?=[A-Z][a-z]*\b)|$/gu;

/** Signs of a heading, a list, a quotation, an arrow or a tick before a statement. */
const bullet = /^[\s|]*(?:(?:#{1,6}|>|[-*•–]|[=-]>|\(?\d{1,2}[.)]|[∴⇒→=✓✔✅☑👉])\ufe0f?\s+)?/u;

/** What ends a proof. */
const endOfProof = /^\$?(?:\\(?:blacksquare|square|qed|Box)|Q\.?E\.?D)\b\$?\.?$/;

/** The statements of a text in their order, without those that have no letter and no digit. */
export function statementsOf(text: string): Statement[] {
  const statements: Statement[] = [];
  let start = 0;
  for (const { index, 0: mark } of withoutSpans(text).matchAll(boundary)) {
    const at = start + bullet.exec(text.slice(start, index))![0].length;
    const statement = { text: text.slice(at, index).trimEnd(), at };
    if (/[\p{L}\p{N}\\∅∞]/u.test(statement.text) && !endOfProof.test(statement.text))
      statements.push(statement);
    start = index + mark.length;
  }
  return statements;
}

/** A check, good wishes, and a reason with digits for words: "Since 7 and 12 have no common factor, the fraction is in lowest terms." */
export const remark =
  /^(?:since|because|as)\b[^.]*,\s(?:the|an?|all|both|no)\b\D*$|^\W{0,3}(?:I hope|hope |let me (?:know|verify|check|double)|(?:\w+ )?check\b(?!:\s-?[\d.]+$)|verif|as a check|indeed\b|for (?:example|instance)\b|feel free|remark\b|by the way|incidentally|plugging (?:it|this|that) back|would you|sorry\b|note\b)/i;

/** Good wishes and offers at the end of a response, and what only says that it ends. */
export const courtesy =
  /^\W{0,3}(?:let (?:me|us) know|feel free|(?:I )?hope\b|if (?:you|anything|something)\b.*\b(?:ask|know|questions?|help)|(?:I['’]m |I am )?(?:happy|glad) to|this (?:completes|concludes|finishes)|good luck|that['’]s (?:it|all)\b|would you|do you)/i;

/** A statement after which no earlier one is the last word: the writer goes on, or gives up. */
export const goesOn =
  /^(?:but|however|wait|hmm+|now|next|then|let (?:me|us)(?! know)|let['’]s|aber|jedoch|moment|pero|sin embargo|mais|cependant|mas|porém|но|однако|但|不过|しかし|하지만)(?!\p{L})|\b(?:not|cannot be|can['’]t be) determined\b/iu;

/** Words that begin a conclusion. */
export const concludes =
  /^\W*(?:so|thus|hence|therefore|wait|actually|in total|finally|the (?:final )?(?:answer|result|total|sum|value) is)\b/i;

/** A smile or a picture at the end of a text. */
const smile = /(?:\s[:;]-?[)D]|\s|[\p{Extended_Pictographic}∎■□✓]|\ufe0f)+$/u;

/** A text without asterisks, backticks, pictures and white space at its ends; `z^*` keeps its own. */
export function withoutMarks(given: string): string {
  const text = given.slice(0, -16) + given.slice(-16).replace(smile, '');
  let [start, end] = [0, text.length];
  while (start < end && /[\s*`]/.test(text[start]!)) start += 1;
  while (end > start && /[\s*`]/.test(text[end - 1]!) && text[end - 2] !== '^') end -= 1;
  return text.slice(start, end);
}
