import { importPeer } from '@rlp/core';
import type { RegExpMatcher } from 'obscenity';

let matcher: Promise<RegExpMatcher> | undefined;

/** The English lexicon of `obscenity`, which also reads masked spellings. Loaded once, on first use. */
export function profanityMatcher(): Promise<RegExpMatcher> {
  matcher ??= importPeer('ToxicityVerifier', 'obscenity', () => import('obscenity')).then(
    ({ RegExpMatcher: Matcher, englishDataset, englishRecommendedTransformers }) =>
      new Matcher({ ...englishDataset.build(), ...englishRecommendedTransformers }),
  );
  return matcher;
}
