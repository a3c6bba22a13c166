import { lookAlikes, lookAlikesAmongLatin } from '@rlp/answers/text';
import { countMatches } from './text.ts';

/**
 * How a text is disguised. `invisible`: characters without ink inside words. `styled`: letters in mathematical, full-width or boxed
 * form, or with marks struck through. `look-alike`: letters of another script. `spaced`: words spelt letter by letter. `leet`: digits
 * and signs for letters.
 */
type Disguise = 'invisible' | 'styled' | 'look-alike' | 'spaced' | 'leet';

/** How many places of a text are disguised, by kind. Empty for ordinary text. */
export type Disguises = Readonly<Partial<Record<Disguise, number>>>;

/** The entry `disguised` of a report's details, if anything is. */
export function disguisedDetail(disguised: Disguises): { readonly disguised?: Disguises } {
  return Object.keys(disguised).length > 0 ? { disguised } : {};
}

/** A text as a reader sees it. */
export interface PlainText {
  readonly text: string;
  readonly disguises: Disguises;
}

/** Characters that Unicode calls ignorable or leaves to others, and control characters other than white space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are meant
const invisible = /[\p{DI}\p{Co}\ufff9-\ufffb\u0000-\u0008\u000e-\u001b\u007f-\u0084\u0086-\u009f]+/gu;
/** The same and Arabic tatweel within Latin words and numbers, soft hyphens left out. There they hide something. */
const hiding = new RegExp(`(?<=[A-Za-z0-9])(?!\\u00ad)(?:\\u0640|${invisible.source})+(?=[A-Za-z0-9])`, 'gu');

/** The text without invisible characters inside Latin words and numbers. Those that other scripts need stay. */
export function unhiddenText(text: string): string {
  return text.replace(hiding, '');
}

/**
 * The text as a reader sees it. Invisible characters go. Styled letters get their usual form. Letters of another script in or among
 * Latin words become the Latin ones that they look like. Ordinary text of any language stays as it is, up to canonical composition.
 */
export function plainText(given: string): PlainText {
  if (isAscii(given) && !markup.test(given)) return { text: given, disguises: {} };
  const counts: Partial<Record<Disguise, number>> = {};
  const replaced = (kind: Disguise, text: string, pattern: RegExp, by: (match: string) => string) =>
    text.replace(pattern, (match) => {
      const plain = by(match);
      if (plain !== match) counts[kind] = (counts[kind] ?? 0) + 1;
      return plain;
    });
  let text = given;
  if (markup.test(given)) {
    text = replaced('styled', text, letterByNumber, characterOf);
    text = replaced('invisible', text, emptyTag, () => '');
  }
  text = replaced('invisible', text, reversed, (run) => Array.from(run).reverse().join(''));
  text = replaced('invisible', text, hiding, () => '').replace(invisible, '');
  text = replaced('styled', text, styled, unstyled).normalize('NFC');
  text = replaced('styled', text, overlaid, (match) => match.replace(marks, ''));
  if (!suspicious.test(text)) return { text, disguises: counts };
  text = replaced('look-alike', text, word, (one) =>
    /[A-Za-z]/.test(one) ? latinized(one, lookAlikesAmongLatin) : one,
  );
  const [latin, others] = [/[A-Za-z]/g, /[^\p{Script=Latin}\P{L}]/gu].map((kind) => countMatches(text, kind));
  if (latin! >= others!)
    text = replaced('look-alike', text, word, (one) =>
      latinized(one, isMixed(one) ? lookAlikesAmongLatin : lookAlikes),
    );
  return { text, disguises: counts };
}

/** HTML that shows nothing but letters. What escapes signs, such as `&lt;` and `&#38;`, stays. */
const markup = /&#|&[a-z]+;|%[3-7][0-9a-f]%|<\/[a-z]+>|<!--/i;
const letterByNumber = /&#(?:x[0-9a-f]{1,6}|\d{1,7});?|(?:%[3-7][0-9a-f]){3,}/gi;
const emptyTag =
  /(?<=[\p{L}\p{N}])(?:<([a-z]{1,10})><\/\1>|<!--[^<>]{0,100}-->|&(?:shy|zwn?j|NoBreak|ZeroWidthSpace|lrm|rlm);)(?=[\p{L}\p{N}])/giu;

/** The letter or digit of a character reference, or the letters of a URL. Others stay. */
function characterOf(reference: string): string {
  if (reference.startsWith('%')) return reference.replace(/%7[b-f]|%(..)/gi, lettersOfUrl);
  const digits = reference.slice(2).replace(';', '');
  const code = /^x/i.test(digits) ? Number.parseInt(digits.slice(1), 16) : Number(digits);
  const shown = code <= 0x10ffff ? String.fromCodePoint(code) : '';
  return /^[\p{L}\p{N}]$/u.test(shown) ? shown : reference;
}

function lettersOfUrl(code: string, digits: string | undefined): string {
  const shown = digits === undefined ? code : String.fromCharCode(Number.parseInt(digits, 16));
  return /\w/.test(shown) ? shown : code;
}

const ascii = /^[\t-\r -~]*$/;

/** Whether a text has only printable ASCII and white space. Such a text is what a reader sees. */
export function isAscii(text: string): boolean {
  return ascii.test(text);
}

/** Runs of styled letters. Signs of full width count in a run with a letter or digit, so that CJK punctuation stays. */
const styled =
  /[\uff01-\uff5e]*[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a][\uff01-\uff5e]*|[\u{1d400}-\u{1d7ff}\u249c-\u24e9\u{1f110}-\u{1f1ac}\u2102\u210a-\u2115\u2118-\u211d\u2124\u2128\u212a\u212c-\u2138\ufb00-\ufb06\u02b0-\u02b8\u02e1-\u02e3\u1d2c-\u1d6a\u1d9b-\u1dbf\u2071\u207f\u2090-\u209c\u2170-\u217f]+/gu;

/** Styled letters in their usual form. Those in boxes and brackets stand in alphabetical order. */
function unstyled(run: string): string {
  const plain = Array.from(run, (character) => {
    const code = character.codePointAt(0)!;
    const start = [0x249c, 0x1f110, 0x1f150, 0x1f170].find((first) => code >= first && code < first + 26);
    if (start !== undefined) return String.fromCharCode((start === 0x249c ? 97 : 65) + code - start);
    return character.normalize('NFKC');
  });
  return plain.join('');
}

/** Latin letters with marks that no language puts there, after composition. */
const overlaid = /\p{Script=Latin}[\p{Mn}\p{Me}]+/gu;
const marks = /[\p{Mn}\p{Me}]+/gu;
/** What is shown from right to left though it is not written so. */
const reversed = /\u202e[^\u202c\n]+/gu;

/** Whether a word has letters of two scripts that have no words in common. */
const isMixed = (one: string) => /\p{Script=Greek}/u.test(one) && /\p{Script=Cyrillic}/u.test(one);

const word = /[\p{L}\p{M}\p{N}]+/gu;
const suspicious = new RegExp(`[${[...lookAlikesAmongLatin.keys()].join('')}]`, 'u');

/** A word with its look-alikes replaced, if it then consists of Latin letters and digits. Else the word, as is a lone Greek letter. */
function latinized(given: string, alike: ReadonlyMap<string, string>): string {
  if (isAscii(given) || /^\p{Script=Greek}$/u.test(given)) return given;
  const plain = Array.from(
    given,
    (letter) => alike.get(letter) ?? alike.get(letter.normalize('NFD')[0]!) ?? letter,
  ).join('');
  return /^[\p{Script=Latin}\p{M}\p{N}]+$/u.test(plain) ? plain : given;
}

const braille = '⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵';
/** Those and the halves of flags. */
const signOfLetter = new RegExp(`[${braille}\u{1f1e6}-\u{1f1ff}]`, 'gu');

/**
 * {@link plainText} with words put together that are spelt letter by letter: `h a t e`, `h.a.t.e`, by flags and in Braille. Lists of letters become words too, so
 * this is for what looks for words that should not be there.
 *
 * @param part - Parts a run of letters whose gaps do not tell where its words end. It is likely one word if no other run stands beside it.
 */
export function spelledText(given: string, part = (run: string, _isAlone: boolean) => run): PlainText {
  const unflagged = given.replace(signOfLetter, (sign) =>
    String.fromCharCode(braille.includes(sign) ? 97 + braille.indexOf(sign) : sign.codePointAt(0)! - 0x1f185),
  );
  const { text, disguises } = plainText(unflagged.replace(escapedLetters, unescapedLetters));
  let spaced = 0;
  const partedLetters = (letters: string) =>
    letters.replace(/\S+/gu, (piece) => {
      const isAlone = !/\p{L}[^\p{L}'’]+\p{L}/u.test(piece);
      return piece.replace(letterRun, (run) => part(run, isAlone));
    });
  const parts = text.split(/(\s+)/u);
  const joined: string[] = [];
  for (let at = 0; at < parts.length; ) {
    let end = at;
    while (end < parts.length && isSingle(parts[end]!)) end += 2;
    const letters = parts.slice(at, end).filter((one) => /\p{L}/u.test(one)).length;
    if (letters >= 4 && letters > (end - at) / 5) {
      joined.push(partedLetters(wordsOfLetters(parts.slice(at, end - 1))), parts[end - 1] ?? '');
      if (letters > 5) spaced += 1;
    } else joined.push(parts.slice(at, Math.max(end, at + 2)).join(''));
    at = Math.max(end, at + 2);
  }
  const undotted = joined.join('').replace(dottedWord, (run, sign: string | undefined) => {
    if (run.length > 8) spaced += 1;
    const letters = sign === undefined ? run.replace(/[^\p{L}\p{N}]/gu, '') : run.replaceAll(sign, '');
    return partedLetters(letters).replace(/(?=\p{Lu})(?<=\p{Ll}[,!?]{1,9})/gu, ' ');
  });
  return { text: undotted, disguises: { ...disguises, ...(spaced > 0 && { spaced }) } };
}

/** Letters by their numbers in programs and in mail: `\u0061`, `\u{61}`, `\x61`, `\141\142\143`, `=61=62`. */
const escapedLetters =
  /\\(?:u00|U000000|x)[2-7][0-9a-f]|\\u\{0{0,4}[2-7][0-9a-f]\}|(?:\\[01]?[0-7]{2}){3,}|(?:=[2-7][0-9A-F]){2,}/gi;
const unescapedLetters = (run: string) =>
  run.replace(
    /\\([01]?[0-7]{2})|(?:\\(?:u\{?0*|x)|=)(..)\}?/gi,
    (code, octal: string | undefined, digits: string) =>
      lettersOfUrl(code, octal === undefined ? digits : Number.parseInt(octal, 8).toString(16)),
  );

/** Three letters or more with the same signs between them and marks of a sentence, or each in brackets. */
const dottedWord =
  /(?<![\p{L}\p{N}])\p{L}([^\p{L}\p{N}\p{M}\s]{1,4})(?:\p{L}|(?!\1)\*)\1[\p{L}\p{N}_*](?:\1(?:[\p{L}\p{N}_'’,!?]|(?!\1)\*))*(?![\p{L}\p{N}])|(?:[([{<][\p{L}\p{N}][)\]}>]){3,}/gu;

/** Letters, and what may stand for one, that may be several words. */
const letterRun = /[\p{L}\p{N}'’@$|]{6,}/gu;

const isSingle = (part: string) => part.length === 1 || (part.length === 2 && Array.from(part).length === 1);

/** Letters and the gaps between them as words. Gaps wider than the first are those between words. */
function wordsOfLetters(parts: readonly string[]): string {
  const narrow = parts[1]?.length ?? 0;
  return parts.map((part, k) => (k % 2 === 0 ? part : part.length > narrow ? ' ' : '')).join('');
}

const letterOf: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '6': 'g', '7': 't', '8': 'b', '9': 'g' },
  ...{ '@': 'a', $: 's', '!': 'i', '|': 'l', '+': 't', '€': 'e' },
};
const lettersOf = (leet: string) =>
  Array.from(leet, (character) => letterOf[character] ?? character).join('');
const leetWord = /(?<![\p{L}\p{N}@$!|+€])(?=[\d@$!|+€]*\p{L})(?=\p{L}*[\d@$|+€!])[\p{L}\d@$|+€!'’]+/gu;

const doubled = /([A-Za-z])\1/gi;
/** Signs and line breaks that part a word. */
const parting =
  /(?<=\p{L})(?:["“”*_`~^+=#|/\\()]{1,4}|["'] ?\+ ?["']|\p{Extended_Pictographic}\ufe0f?|\.{2,4}|-\n[^\S\n]*|\}\s?\\[a-z]{1,12}\{)(?=\p{L})/giu;

/** The text without signs and line breaks that part its words: `stu+pid`, `st**up**id`, a word over two lines. */
export function withoutParting(text: string): string {
  return text.replace(parting, '');
}

/** A word of at least four words without spaces: `YouAreAFool`. */
const humped = /(?<![\p{L}\p{N}])\p{Ll}{0,20}(?:\p{Lu}\p{Ll}*){4,40}(?![\p{L}\p{N}])/gu;
const hump = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu;

const masked = /(?<=\p{L})[*#_|](?=\p{L})|\|(?=\p{L})/u;

/** The readings of a text whose words have a sign for a vowel, one for each vowel: `st*pid`, `|d|ot`. None for other texts. */
export function unmaskedTexts(text: string): string[] {
  if (!masked.test(text)) return [];
  const all = new RegExp(masked, 'gu');
  return Array.from('aeiou', (vowel) => looseText(text.replace(all, vowel)));
}

/** The text with spaces in words such as `YouAreAFool`. */
export const withHumpsParted = (text: string) => text.replace(humped, (one) => one.replace(hump, ' '));

/** The text, and how else its words may be read by somebody who looks for those that should not be there. */
export function readings(text: string): ReadonlySet<string> {
  return new Set([
    text,
    looseText(withHumpsParted(text)),
    looseText(withoutParting(text)),
    ...unmaskedTexts(text),
  ]);
}

/**
 * The text read loosely: digits and signs inside words as letters (`h4t3`, `1d10t`), letters without accents, and long repeats
 * of a letter once. What means a number changes too, as in `10k`, and `455` if every fourth word has such digits.
 */
export function looseText(text: string): string {
  const bare = text
    .normalize('NFD')
    .replace(marks, '')
    .replace(/[đøłŧħ]/g, (letter) => 'dolth'['đøłŧħ'.indexOf(letter)]!)
    .replace(/([A-Za-z])\1{2,}/g, '$1')
    .replace(/[A-Za-z]{6,}/g, (one) =>
      countMatches(one, doubled) > Math.max(2, one.length / 5) ? one.replace(doubled, '$1') : one,
    );
  const found = countMatches(bare, leetWord);
  const loose = bare.replace(leetWord, (one) => {
    const core = one.replace(/[!+|]+$/, '');
    return lettersOf(core) + one.slice(core.length);
  });
  if (found < 3 || found * 4 < countMatches(bare, /\S+/g)) return loose;
  return loose.replace(/(?<![\p{L}\p{N}.,$€])\d{1,4}(?![\p{L}\p{N}%])/gu, lettersOf);
}
