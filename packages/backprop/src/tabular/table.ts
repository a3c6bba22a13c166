import { ArgumentError, parseOptions, RandomStream, type TokenId } from '@rlp/core';
import * as z from 'zod';

const maxCells = 2 ** 24;

/** Schema of {@link TabularShape}. */
export const tabularShapeSchema = z.strictObject({
  /** Size of the vocabulary, V. Required. */
  vocabularySize: z.int().min(2),
  /** Number of last tokens that the policy sees. 0 makes it a bandit. Default 1. */
  contextTokens: z.int().nonnegative().default(1),
  /** Standard deviation of the first logits. 0 is the uniform policy. Default 0. */
  initialScale: z.number().nonnegative().default(0),
  /** Seed of the random stream that the first logits are drawn from. Default `'tabular'`. */
  seed: z.string().default('tabular'),
});

const boundedSchema = tabularShapeSchema.refine(
  ({ vocabularySize, contextTokens }) => (vocabularySize + 1) ** contextTokens * vocabularySize <= maxCells,
  {
    path: ['contextTokens'],
    message: `must keep (vocabularySize + 1)^contextTokens · vocabularySize ≤ 2^24`,
  },
);

/** Size and first values of a table of logits. */
export interface TabularShape extends z.input<typeof tabularShapeSchema> {}

/** One softmax distribution. */
export interface Distribution {
  /** Natural logs. Shape: `[V]`. */
  readonly logprobs: Float64Array;
  /** Entropy in nats. */
  readonly entropy: number;
}

/** A softmax policy with one row of logits per context of the last n tokens. */
export class LogitsTable {
  readonly vocabularySize: number;
  readonly contextTokens: number;
  /** Shape: `[(V + 1)^n, V]`. */
  logits: Float32Array;

  /** @throws OptionsError for invalid sizes. */
  constructor(shape: TabularShape) {
    const { vocabularySize, contextTokens, initialScale, seed } = parseOptions(
      'tabular policy',
      boundedSchema,
      shape,
    );
    this.vocabularySize = vocabularySize;
    this.contextTokens = contextTokens;
    const stream = RandomStream.named(seed, 'initial-logits');
    const cells = (vocabularySize + 1) ** contextTokens * vocabularySize;
    this.logits = new Float32Array(cells);
    if (initialScale > 0)
      for (let cell = 0; cell < cells; cell++) this.logits[cell] = initialScale * stream.normal();
  }

  /** Offset of the row for `tokens[position]`, which depends on the tokens before it. */
  rowOf(tokens: readonly TokenId[], position: number): number {
    let row = 0;
    for (let back = this.contextTokens; back >= 1; back--) {
      const token = tokens[position - back];
      row = row * (this.vocabularySize + 1) + (token === undefined ? 0 : token + 1);
    }
    return row * this.vocabularySize;
  }

  /**
   * Distribution of a row at a temperature. Throws an ArgumentError unless the temperature is positive and
   * finite.
   */
  distribution(row: number, temperature: number, logits: Float32Array = this.logits): Distribution {
    if (!(temperature > 0 && temperature < Infinity)) {
      throw new ArgumentError(`temperature must be positive and finite, got ${temperature}`);
    }
    const logprobs = new Float64Array(this.vocabularySize);
    let largest = Number.NEGATIVE_INFINITY;
    for (let token = 0; token < logprobs.length; token++) {
      logprobs[token] = logits[row + token]! / temperature;
      largest = Math.max(largest, logprobs[token]!);
    }
    let total = 0;
    for (const logit of logprobs) total += Math.exp(logit - largest);
    const normalizer = largest + Math.log(total);
    let entropy = 0;
    for (let token = 0; token < logprobs.length; token++) {
      logprobs[token]! -= normalizer;
      entropy -= Math.exp(logprobs[token]!) * logprobs[token]!;
    }
    return { logprobs, entropy };
  }

  /** @throws ArgumentError naming the first token outside the vocabulary. */
  checkTokens(owner: string, tokens: readonly TokenId[]): void {
    const bad = tokens.findIndex(
      (token) => !Number.isInteger(token) || token < 0 || token >= this.vocabularySize,
    );
    if (bad < 0) return;
    throw new ArgumentError(
      `${owner}: token ${tokens[bad]} at position ${bad} is outside the vocabulary of ${this.vocabularySize}; expected a tokenizer of at most so many tokens`,
    );
  }
}
