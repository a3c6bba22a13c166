/** What the models of the verifiers look at, for programs that fit them anew. */
export { answerFeatures } from './verification/model/answer-features.ts';
export { type CoherenceEvidence, coherenceEvidence } from './verification/model/coherence-features.ts';
export { windows } from './verification/model/excerpt.ts';
export type { SparseVector } from './verification/model/hashed-features.ts';
export { type LinearModel, type ModelFeatures, probability } from './verification/model/linear-model.ts';
export {
  type Profanity,
  profanityLexicon,
  toxicityBits,
  toxicityFeatures,
  toxicityPieces,
} from './verification/model/toxicity-features.ts';
export {
  classCount,
  type LetterOrder,
  letterClasses,
  letterClassesOf,
  proseTokens,
  type WordOrder,
  wordClasses,
} from './verification/model/word-order.ts';
