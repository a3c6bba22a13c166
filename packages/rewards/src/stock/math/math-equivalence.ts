import * as z from 'zod';
import { functionSchema } from '../../shared/schemas.ts';
import { cleanAnswer, maximumAnswerLength, readCollection, withoutAssignment } from './math-cleaning.ts';
import { mathNormalForm } from './math-normal-form.ts';
import { readRational, sameRational, type WrittenNumber } from './rational.ts';

/** A further opinion on whether two cleaned expressions are equal, asked only where text and numbers do not decide. */
export type MathEquivalence = (given: string, expected: string) => boolean;

/** Schema of {@link MathAgreementOptions}. */
export const agreementSchema = z.strictObject({
  /**
   * Form that a right value must have. `'simplified'`: fractions are reduced, and an integer is written as one, so that `\frac{128}{2}` is
   * not 64, as in the graders of MATH and PRM800K. `'any'`: the value decides. Default `'simplified'`.
   */
  form: z.enum(['simplified', 'any']).optional(),
  /** Further opinion, such as `symbolicEquivalence` of `@rlp/rewards/math`. Default none. */
  equivalence: functionSchema<MathEquivalence>().optional(),
});

/** Options of {@link mathAnswersAgree}. */
export interface MathAgreementOptions extends z.input<typeof agreementSchema> {}

/** How deep collections in collections are taken apart. */
const maximumDepth = 3;

/**
 * Whether two LaTeX answers mean the same.
 *
 * One of these must hold. They are equal once cleaned (spacing, units, dollar signs, type, boxes, `x =`). Their Hendrycks
 * forms are equal. Both are the same number (`1.5`, `3/2`, `1\frac{1}{2}`; `0.333` is not 1/3). Both are tuples, intervals, lists, sets
 * or matrices of one kind, and their parts agree, in order unless they are sets. `equivalence` returns true.
 * Answers of more than 2,000 characters are compared as written.
 *
 * @param given - The policy's answer.
 * @param expected - The right answer.
 */
export function mathAnswersAgree(
  given: string,
  expected: string,
  options: MathAgreementOptions = {},
): boolean {
  if (given.trim() === '' || expected.trim() === '') return false;
  if (Math.max(given.length, expected.length) > maximumAnswerLength) return given.trim() === expected.trim();
  const form = mathNormalForm(expected, 'hendrycks');
  if (form !== null && form !== '' && mathNormalForm(given, 'hendrycks') === form) return true;
  const [a, b] = [cleanAnswer(given), cleanAnswer(expected)];
  if (agree(withoutAssignment(a), withoutAssignment(b), options, maximumDepth)) return true;
  return a.includes('=') && b.includes('=') && agree(a, b, options, maximumDepth);
}

function agree(given: string, expected: string, options: MathAgreementOptions, depth: number): boolean {
  if (given === '' || expected === '') return false;
  if (given === expected || sameWord(given, expected)) return true;
  const givenNumber = readRational(given);
  const expectedNumber = readRational(expected);
  if (givenNumber !== undefined && expectedNumber !== undefined) {
    return sameRational(givenNumber, expectedNumber) && hasForm(givenNumber, expectedNumber, options);
  }
  const givenParts = depth > 0 ? readCollection(given) : undefined;
  const expectedParts = depth > 0 ? readCollection(expected) : undefined;
  if (givenParts === undefined && expectedParts === undefined) {
    return decidedByEquivalence(given, expected, options, expectedNumber);
  }
  if (givenParts?.kind !== expectedParts?.kind || givenParts?.parts.length !== expectedParts?.parts.length)
    return false;
  const isFree = givenParts!.order === 'free' || expectedParts!.order === 'free';
  const same = (a: string, b: string) => agree(a, b, options, depth - 1);
  return isFree
    ? matchesInAnyOrder(givenParts!.parts, expectedParts!.parts, same)
    : givenParts!.parts.every((part, index) => same(part, expectedParts!.parts[index]!));
}

/** Where an integer is expected, an expression that is not written as one counts only if any form does. */
function decidedByEquivalence(
  given: string,
  expected: string,
  { form = 'simplified', equivalence }: MathAgreementOptions,
  expectedNumber: WrittenNumber | undefined,
): boolean {
  if (equivalence === undefined) return false;
  if (form === 'simplified' && expectedNumber?.notation === 'integer') return false;
  return equivalence(given, expected);
}

function hasForm(
  given: WrittenNumber,
  expected: WrittenNumber,
  { form = 'simplified' }: MathAgreementOptions,
): boolean {
  if (form === 'any' || given.notation === 'decimal' || given.notation === 'integer') return true;
  if (expected.denominator === 1n || expected.numerator % expected.denominator === 0n) return false;
  return given.notation === 'mixed' || !given.reducible;
}

/** Words and choice letters: `\text{(A)}` is A is a. */
function sameWord(a: string, b: string): boolean {
  const [first, second] = [a, b].map((text) => /^\(?([a-zA-Z]+)\)?$/.exec(text)?.[1]?.toLowerCase());
  return first !== undefined && first === second;
}

/** Pairs parts greedily: enough for equality, which is transitive. At most `n²` comparisons. */
function matchesInAnyOrder(
  given: readonly string[],
  expected: readonly string[],
  same: (a: string, b: string) => boolean,
): boolean {
  if (given.length > 50) return false;
  const left = [...expected];
  return given.every((part) => {
    const index = left.findIndex((other) => same(part, other));
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
}
