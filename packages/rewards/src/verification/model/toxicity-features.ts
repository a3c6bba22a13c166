import { missingPeer } from '@rlp/core';
import { countMatches } from '../../shared/text.ts';
import { windows } from './excerpt.ts';
import { hashedFeatures } from './hashed-features.ts';
import type { ModelFeatures } from './linear-model.ts';

/** Hashed features have `2^15` buckets. */
export const toxicityBits = 15;

/** Finds profane words. */
export interface Profanity {
  /** How many a text has. */
  readonly count: (text: string) => number;
  /** Those it knows, in their plain form, and harmless ones that have one of them within. */
  readonly words: readonly string[];
}

/**
 * The pieces of a text that are judged each for itself. They are windows of 60 words, overlapping ones of 20 and 10, and up to three sentences, so
 * that friendly words around do not hide a few bad ones.
 */
export function toxicityPieces(text: string): string[] {
  const sentences = text.split(/(?<=[.!?…]["'”’)*_]{0,3})\s+/u);
  const runs = sentences.flatMap((_, at) => [1, 2, 3].map((n) => sentences.slice(at, at + n).join(' ')));
  const short = runs.filter(({ length }) => length >= 20 && length <= 300);
  return [windows(text, 60), windows(text, 20, 10), windows(text, 10, 5), short].flat();
}

/** What the toxicity model looks at. @param profanities - How many the lexicon found in the text. */
export function toxicityFeatures(text: string, profanities: number): ModelFeatures {
  const letters = countMatches(text, /\p{L}/gu);
  return {
    sparse: hashedFeatures(text, toxicityBits),
    dense: {
      profane: profanities > 0 ? 1 : 0,
      profanities: Math.min(3, Math.log1p(profanities)),
      capitals: letters === 0 ? 0 : countMatches(text, /\p{Lu}/gu) / letters,
      exclamations: Math.min(3, countMatches(text, /!/gu)) / 3,
      secondPerson: /\b(?:you|your|you're|ur)\b/iu.test(text) ? 1 : 0,
    },
  };
}

let lexicon: Promise<Profanity> | undefined;

/** Words of medicine and of reports. They say nothing about how somebody is treated. */
const neutral = new Set('anal anus ejaculate incest orgasm penis rape scat semen sex vagina'.split(' '));
/** Words that would be taken for a profane one, or be parted at one if they are spelt letter by letter. */
const harmless = new Set(
  'assassin assassinate assassination assisi cardassian cockatoo cockburn cockfighting cumin dish georgy hearse montenegro onassis periodontitis publish pussycat retardant retardation snigger spasticity'.split(
    ' ',
  ),
);
/** What may follow a profane word within a longer one, or come before it. */
const ending =
  /^(?:['’]?s|z|es|ed|er|ers|in|ing|ings|y|ie|ies|head|heads|face|faces|hole|holes|wad|bag|bags|up|off|s?tick|ass|wit|tard|tards)?$/;
const beginning = /^(?:mother|mutha|bull|horse|chicken|bat|dip|dumb|jack|fat|smart|bad|un|cluster|god)?$/;
/** Given names that are profane words elsewhere, beside another name. */
const inName = /(?:\p{Lu}\p{Ll}+[ .]+)Dick(?!\p{L})|(?<!\p{L})Dick(?= \p{Lu}\p{Ll})/gu;

/**
 * The English lexicon of `obscenity`, which also reads masked spellings. Loaded once, on first use. A profane word counts where it stands alone, is
 * inflected or part of a known compound. So "Shiitake" and the German "dicke" have none.
 */
export function profanityLexicon(): Promise<Profanity> {
  lexicon ??= loadLexicon();
  return lexicon;
}

async function loadLexicon(): Promise<Profanity> {
  const { DataSet, RegExpMatcher, englishDataset, englishRecommendedTransformers } = await import(
    'obscenity'
  ).catch((cause: unknown) => {
    throw missingPeer('ToxicityVerifier', 'obscenity', cause);
  });
  const words: string[] = [...harmless];
  const terms = new DataSet<{ originalWord: string }>()
    .addAll(englishDataset)
    .removePhrasesIf(({ metadata }) => {
      const { originalWord = '' } = metadata ?? {};
      if (!neutral.has(originalWord)) words.push(originalWord);
      return neutral.has(originalWord);
    });
  const matcher = new RegExpMatcher({ ...terms.build(), ...englishRecommendedTransformers });
  const count = (text: string) => {
    const read = text.replace(inName, (name) => name.replace('Dick', 'Rick'));
    return matcher.getAllMatches(read).filter(({ startIndex, endIndex }) => {
      const before = /\p{L}*$/u.exec(read.slice(Math.max(0, startIndex - 20), startIndex))![0];
      const after = /^['’]?\p{L}*/u.exec(read.slice(endIndex + 1, endIndex + 21))![0];
      const word = read.slice(startIndex - before.length, endIndex + 1 + after.length).toLowerCase();
      return beginning.test(before.toLowerCase()) && ending.test(after.toLowerCase()) && !harmless.has(word);
    }).length;
  };
  return { count, words };
}
