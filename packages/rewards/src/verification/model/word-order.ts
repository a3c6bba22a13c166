/** How likely word classes follow each other in English prose, as learnt by `lab/train-verifiers.ts`. */
export interface WordOrder {
  /** Words with a class each, the commonest first. */
  readonly words: readonly string[];
  /** Pointwise mutual information of class a followed by class b, in nats, times `1/scale`. Shape: `[C, C]`, row by row. */
  readonly information: ArrayLike<number>;
  readonly scale: number;
}

/** How likely letters follow each other within words. */
export interface LetterOrder {
  /** Pointwise mutual information of letter a followed by b, in nats, times `1/scale`. Shape: `[28, 28]`, row by row. */
  readonly information: ArrayLike<number>;
  readonly scale: number;
}

/** Letters a to z, the edge of a word, any other letter. */
export const letterClasses = 28;

/** The letters of a lower-case word as classes, between its edges. */
export function letterClassesOf(word: string): number[] {
  const letters = Array.from(word, (letter) => {
    const code = letter.charCodeAt(0) - 97;
    return code >= 0 && code < 26 ? code : 27;
  });
  return [26, ...letters, 26];
}

/** Classes of all other words, by ending. */
const endings = ['ing', 'ed', 'ly', 'tion', 'er', 'est', 's', 'y', 'e'] as const;
const marks = ['.', ',', '!', '?', ';', ':', '"', '(', ')', '-', '\n'] as const;
/** Number, capitalised word, short word, any other word. */
const otherClasses = 4;

/** Number of classes with so many single words. */
export function classCount(words: number): number {
  return words + endings.length + marks.length + otherClasses;
}

/** Words, numbers and marks, in order. Runs of line breaks count once. */
export function proseTokens(text: string): string[] {
  return text.replaceAll('’', "'").match(/\p{L}[\p{L}\p{M}']*|\p{N}+|[.,!?;:"()\n-]/gu) ?? [];
}

/** The class of each token. */
export function wordClasses(tokens: readonly string[], own: ReadonlyMap<string, number>): number[] {
  const size = own.size;
  return tokens.map((token, place) => {
    const known = own.get(token.toLowerCase());
    if (known !== undefined) return known;
    const mark = (marks as readonly string[]).indexOf(token);
    if (mark >= 0) return size + endings.length + mark;
    const rest = size + endings.length + marks.length;
    if (/^\p{N}/u.test(token)) return rest;
    const startsSentence = place === 0 || '.!?\n"'.includes(tokens[place - 1]!);
    if (/^\p{Lu}\p{Ll}/u.test(token) && !startsSentence) return rest + 1;
    if (token.length <= 3) return rest + 2;
    const ending = endings.findIndex((suffix) => token.toLowerCase().endsWith(suffix));
    return ending >= 0 ? size + ending : rest + 3;
  });
}
