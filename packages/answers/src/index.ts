/** Reads final answers in text, and decides whether two answers are equal. Runs anywhere JavaScript does. */
export { agreeAsAsked } from './equal/as-asked.ts';
export {
  type MathAgreementOptions,
  mathAgreementSchema,
  mathAnswersAgree,
} from './equal/math-equivalence.ts';
export * from './equal/math-normal-form.ts';
export { numberOf } from './equal/number-of.ts';
export {
  type MathEquivalence,
  type SymbolicEquivalenceOptions,
  symbolicEquivalence,
} from './equal/symbolic-equivalence.ts';
export { type BoxedAnswer, lastBoxed } from './extract/boxes.ts';
export { lastCodeBlock } from './extract/code-block.ts';
export * from './extract/extract-tag.ts';
export {
  answerPhrase,
  type FinalAnswerOptions,
  finalAnswer,
  hashAnswer,
  hashSection,
  lastNumber,
} from './extract/final-answer.ts';
export { numberIn } from './extract/number-in.ts';
export * from './extract/written-answer.ts';
export * from './extract/xml-fields.ts';
export * from './overlap.ts';
export * from './similarity.ts';
