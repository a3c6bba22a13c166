import { repeatedShare } from '../../stock/text/repetition.ts';
import type { ModelFeatures } from './linear-model.ts';
import {
  classCount,
  type LetterOrder,
  letterClasses,
  letterClassesOf,
  proseTokens,
  type WordOrder,
  wordClasses,
} from './word-order.ts';

/** What can be said of a text's coherence. */
export interface CoherenceEvidence {
  readonly features: ModelFeatures;
  /** Words of the text. */
  readonly words: number;
  /** Share of the words that are among English's commonest. Low in other languages and in lists of names. */
  readonly commonWords: number;
}

/** What the coherence model looks at. */
export function coherenceEvidence(
  text: string,
  order: WordOrder,
  letterOrder: LetterOrder,
): CoherenceEvidence {
  const own = new Map(order.words.map((word, index) => [word, index]));
  const tokens = proseTokens(text);
  const classes = wordClasses(tokens, own);
  const words = tokens.filter((token) => /^\p{L}/u.test(token)).map((token) => token.toLowerCase());
  const common = words.filter((word) => own.has(word)).length;
  return {
    words: words.length,
    commonWords: words.length === 0 ? 0 : common / words.length,
    features: {
      dense: {
        ...orderFeatures(classes, order),
        ...repetitionFeatures(words),
        ...spellingFeatures(words, letterOrder),
        ...sentenceFeatures(text, words),
      },
    },
  };
}

/** How much more often than by chance neighbours are neighbours, on average and at its worst tenth. */
function orderFeatures(classes: readonly number[], { words, information, scale }: WordOrder) {
  const size = classCount(words.length);
  let sum = 0;
  let odd = 0;
  const pairs = Math.max(1, classes.length - 1);
  for (let at = 1; at < classes.length; at++) {
    const value = information[classes[at - 1]! * size + classes[at]!]! * scale;
    sum += value;
    if (value < -1) odd += 1;
  }
  // Evidence grows with the text. What a few words say may be chance.
  const evidence = Math.sqrt(Math.min(pairs, 400)) / 10;
  return {
    order: sum / pairs,
    oddPairs: odd / pairs,
    orderEvidence: (sum / pairs) * evidence,
    oddEvidence: (odd / pairs) * evidence,
    evidence,
  };
}

/** Shares of pairs and of runs of six words that occurred before. */
function repetitionFeatures(words: readonly string[]) {
  return { repeatedPairs: repeatedShare(words, 2), repeatedRuns: repeatedShare(words, 6) };
}

/** How much the letters of words follow each other as in English. */
function spellingFeatures(words: readonly string[], { information, scale }: LetterOrder) {
  let odd = 0;
  let sum = 0;
  for (const word of words) {
    const letters = letterClassesOf(word.slice(0, 24));
    let spelling = 0;
    for (let at = 1; at < letters.length; at++) {
      spelling += information[letters[at - 1]! * letterClasses + letters[at]!]! * scale;
    }
    sum += spelling / (letters.length - 1);
    if (spelling < 0) odd += 1;
  }
  const count = Math.max(1, words.length);
  return { spelling: sum / count, oddSpelling: odd / count };
}

function sentenceFeatures(text: string, words: readonly string[]) {
  const sentences = text.split(/[.!?\n]+/u).filter((sentence) => /\p{L}/u.test(sentence)).length;
  const perSentence = words.length / Math.max(1, sentences);
  const letters = words.reduce((sum, word) => sum + word.length, 0) / Math.max(1, words.length);
  return {
    longSentences: Math.min(2, Math.max(0, perSentence - 30) / 30),
    shortSentences: Math.max(0, 4 - perSentence) / 4,
    oddWords: Math.min(2, Math.max(0, letters - 6) + Math.max(0, 3 - letters)),
    unspeakable:
      words.filter((word) => word.length > 2 && !/[aeiouyáéíóúäöü]/u.test(word)).length /
      Math.max(1, words.length),
  };
}
