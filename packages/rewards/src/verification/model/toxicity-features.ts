import { importPeer } from '@rlp/core';
import type { RegExpMatcher } from 'obscenity';
import { countMatches } from '../../shared/text.ts';
import { partedWords, windows } from './excerpt.ts';
import { hashedFeatures } from './hashed-features.ts';
import type { ModelFeatures } from './linear-model.ts';

/** Hashed features have `2^15` buckets. */
export const toxicityBits = 15;

/** Words of a window, about as many as the comments have that the model learnt from. */
export const toxicityWindow = 60;

/**
 * The pieces of a text that are judged each for itself. They are windows of 60 words, and overlapping ones of 20 and 10, so that friendly words
 * around do not hide a few bad ones. Runs of letters without spaces are parted at common words.
 */
export function toxicityPieces(text: string, commonWords: ReadonlySet<string>): ReadonlySet<string> {
  const parted = text.replace(/\p{L}{25,}/gu, (run) => partedWords(run, commonWords));
  return new Set([windows(parted, toxicityWindow), windows(parted, 20, 10), windows(parted, 10, 5)].flat());
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

let matcher: Promise<RegExpMatcher> | undefined;

/** The English lexicon of `obscenity`, which also reads masked spellings. Loaded once, on first use. */
export function profanityMatcher(): Promise<RegExpMatcher> {
  matcher ??= importPeer('ToxicityVerifier', 'obscenity', () => import('obscenity')).then(
    ({ RegExpMatcher: Matcher, englishDataset, englishRecommendedTransformers }) =>
      new Matcher({ ...englishDataset.build(), ...englishRecommendedTransformers }),
  );
  return matcher;
}
