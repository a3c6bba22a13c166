/** Words that a full stop belongs to. */
const abbreviations = new Set(
  (
    'dr mr mrs ms prof st vs etc eg ie e.g i.e u.s u.k u.n a.m p.m inc ltd co corp jr sr no nos vol fig al cf gen col capt lt ' +
    'sgt rev hon gov sen rep pres ave blvd rd dept est ca approx jan feb mar apr jun jul aug sep sept oct nov dec ph.d m.d b.a ' +
    'm.a d.c n.y l.a messrs mme bros adm'
  ).split(' '),
);

/** Words that begin a sentence even after an abbreviation. */
const starters = new Set(
  'the he she it in but they we this if a an and i you there these those however when while'.split(' '),
);

/** The marks that may end a sentence, what closes behind them, and the beginning of the next word. */
const ending = /(?<![.?!])([.?!]+)(?![.?!])["'\u201d\u2019)\]*_]*(?=\s+(\S{1,24}))/g;

/**
 * Counts sentences the way NLTK's Punkt does on plain English: a sentence ends at `.`, `?` or `!` before white space, but not at
 * the full stop of an abbreviation, of an initial, or of an ellipsis that goes on in lower case. Line breaks end nothing.
 *
 * @see Kiss and Strunk 2006, https://aclanthology.org/J06-4003
 */
export function countSentences(text: string): number {
  const trimmed = text.trim();
  const ends = Array.from(trimmed.matchAll(ending)).filter(({ 1: marks, 2: next, index }) =>
    endsSentence(wordBefore(trimmed, index), marks!, next!),
  );
  return trimmed === '' ? 0 : ends.length + 1;
}

/** The end of the word before a mark, back to white space or another mark. */
function wordBefore(text: string, end: number): string {
  return /[^\s?!]*$/.exec(text.slice(Math.max(0, end - 24), end))![0];
}

function endsSentence(word: string, marks: string, next: string): boolean {
  if (!marks.endsWith('.')) return true;
  const opening = next.replace(/^["'“‘([*_]+/u, '');
  const isLower = /^\p{Ll}/u.test(opening);
  if (marks.length > 1) return !isLower && /^\p{Lu}/u.test(opening);
  const plain = word.replace(/^["'“‘([*_]+/u, '').toLowerCase();
  const isInitial = /^\p{L}$/u.test(plain) && plain !== 'i';
  if (isInitial || abbreviations.has(plain)) return starters.has(opening.toLowerCase().replace(/[,;:]$/, ''));
  return !(isLower && /^\d+$/.test(plain));
}
