import { hashedFeatures } from './hashed-features.ts';
import type { ModelFeatures } from './linear-model.ts';

/** Hashed features have `2^15` buckets. */
export const toxicityBits = 15;

/** Words to a window: about the length of the comments the model learnt from. */
export const toxicityWindow = 60;

/** What the toxicity model looks at. @param profanities - How many the lexicon found in the text. */
export function toxicityFeatures(text: string, profanities: number): ModelFeatures {
  const letters = count(text, /\p{L}/gu);
  return {
    sparse: hashedFeatures(text, toxicityBits),
    dense: {
      profane: profanities > 0 ? 1 : 0,
      profanities: Math.min(3, Math.log1p(profanities)),
      capitals: letters === 0 ? 0 : count(text, /\p{Lu}/gu) / letters,
      exclamations: Math.min(3, count(text, /!/gu)) / 3,
      secondPerson: /\b(?:you|your|you're|ur)\b/iu.test(text) ? 1 : 0,
    },
  };
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
