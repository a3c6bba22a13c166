import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { readExpression } from './expression-reader.ts';
import { latexTokens } from './latex-tokens.ts';
import { sameValues } from './same-values.ts';

/** Longer texts are not read as expressions. */
export const maximumLength = 1000;

/** A further opinion on whether two answers mean the same. */
export type MathEquivalence = (given: string, expected: string) => boolean;

/** Seed of the points, in options. */
export const seedSchema = z.string().min(1).optional();

const schema = z.strictObject({
  /** Seed of the points at which values are compared. Default: 128 random bits per process, which no policy knows. */
  seed: seedSchema,
});

/** Options of {@link symbolicEquivalence}. */
export interface SymbolicEquivalenceOptions extends z.input<typeof schema> {}

let secret: string | undefined;

/** The seed of this process. */
export function secretSeed(): string {
  secret ??= crypto.getRandomValues(new Uint32Array(4)).join('-');
  return secret;
}

/**
 * Makes the comparison of expressions in `mathAnswersAgree`, alone: whether two LaTeX texts are expressions with the same value. Lists, units
 * and equations are not expressions.
 */
export function symbolicEquivalence(options: SymbolicEquivalenceOptions = {}): MathEquivalence {
  const { seed = secretSeed() } = parseOptions('symbolicEquivalence', schema, options);
  return (...texts) => {
    const [a, b] = texts.map((text) =>
      text.length > maximumLength ? undefined : readExpression(latexTokens(text, { commas: 'thousands' })),
    );
    return a !== undefined && b !== undefined && sameValues(a, b, { seed });
  };
}
