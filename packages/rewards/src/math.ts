/** The comparison of expressions behind `mathAnswer`, for graders of your own. */
export {
  type MathEquivalence,
  type SymbolicEquivalenceOptions,
  symbolicEquivalence,
} from './stock/math/symbolic-equivalence.ts';
