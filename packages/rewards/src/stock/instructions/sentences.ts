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

const marks = new Set('.?!');
const closing = new Set('"\'\u201d\u2019)]*_');

/**
 * Counts sentences the way NLTK's Punkt does on plain English: a sentence ends at `.`, `?` or `!` before white space, but not at
 * the full stop of an abbreviation, of an initial, or of an ellipsis that goes on in lower case. Line breaks end nothing.
 *
 * @see Kiss and Strunk 2006, https://aclanthology.org/J06-4003
 */
export function countSentences(text: string): number {
  const trimmed = text.trim();
  if (trimmed === '') return 0;
  let breaks = 0;
  for (let at = 0; at < trimmed.length; at++) {
    if (!marks.has(trimmed[at]!)) continue;
    const first = at;
    while (marks.has(trimmed[at + 1]!)) at += 1;
    const last = at;
    while (closing.has(trimmed[at + 1]!)) at += 1;
    const next = wordAfter(trimmed, at + 1);
    if (next === undefined) continue;
    if (endsSentence(wordBefore(trimmed, first), trimmed.slice(first, last + 1), next)) breaks += 1;
  }
  return breaks + 1;
}

/** The beginning of the next word, where white space and a word follow. */
function wordAfter(text: string, from: number): string | undefined {
  let at = from;
  while (at < text.length && text[at]!.trim() === '') at += 1;
  return at === from || at === text.length ? undefined : text.slice(at, at + 24).split(/\s/, 1)[0];
}

/** The end of the word before a mark, back to white space or another mark. */
function wordBefore(text: string, end: number): string {
  return /[^\s?!]*$/.exec(text.slice(Math.max(0, end - 24), end))![0];
}

function endsSentence(word: string, ending: string, next: string): boolean {
  if (!ending.endsWith('.')) return true;
  const opening = next.replace(/^["'“‘([*_]+/u, '');
  const isLower = /^\p{Ll}/u.test(opening);
  if (ending.length > 1) return !isLower && /^\p{Lu}/u.test(opening);
  const plain = word.replace(/^["'“‘([*_]+/u, '').toLowerCase();
  const isInitial = /^\p{L}$/u.test(plain) && plain !== 'i';
  if (isInitial || abbreviations.has(plain)) return starters.has(opening.toLowerCase().replace(/[,;:]$/, ''));
  return !(isLower && /^\d+$/.test(plain));
}
