/** Symbolic equivalence of mathematical answers through mathjs, an optional peer: `npm install mathjs`. */
export { type SymbolicEquivalenceOptions, symbolicEquivalence } from './stock/math/symbolic-equivalence.ts';
