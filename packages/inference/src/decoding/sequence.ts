import { RandomStream, SamplerError, type StopReason, type TokenId } from '@rlp/core';
import { drawToken, mostLikely } from '../sampling/draw.ts';
import { penalizeRepetition } from '../sampling/filters.ts';
import type { ResolvedSampleRequest } from '../sampling/options.ts';
import type { Distribution } from './cached-decoder.ts';
import { lookUp } from './prompt-lookup.ts';

/** What a sequence reads of its request. */
export interface SequenceRequest extends Omit<ResolvedSampleRequest, 'stopStrings'> {
  /** Tokens that end a completion: the model's own and the request's. */
  readonly stopTokens: number[];
}

/** Temperature of the reported logprobs: the sampling temperature, or 1 for greedy decoding. */
export function reportingTemperature(temperature: number): number {
  return temperature === 0 ? 1 : temperature;
}

/**
 * Logprob of a token. A repetition penalty may choose one whose probability without it is too small for float32, so logits are used then.
 */
function logprobOf(token: TokenId, { probabilities, logits }: Distribution): number {
  const probability = probabilities[token]!;
  if (probability !== 0 || logits === undefined) return Math.log(probability);
  const best = mostLikely(probabilities);
  return Math.log(probabilities[best]!) + logits[token]! - logits[best]!;
}

/** One unfinished completion. */
export class Sequence {
  readonly tokens: TokenId[] = [];
  readonly logprobs: number[] = [];
  stopReason: StopReason | undefined;
  readonly #random: RandomStream;
  readonly #stopTokens: ReadonlySet<number>;
  readonly #seen: Set<number> | undefined;
  readonly #budget: number;
  /** Maximum length of the next guess. */
  #trust = Number.POSITIVE_INFINITY;

  readonly request: SequenceRequest;
  readonly member: number;

  constructor(request: SequenceRequest, member: number, contextLength: number) {
    this.request = request;
    this.member = member;
    this.#random = RandomStream.named(request.seed, member);
    this.#stopTokens = new Set(request.stopTokens);
    this.#seen = request.repetitionPenalty > 1 ? new Set(request.prompt) : undefined;
    this.#budget = Math.min(request.maxTokens, contextLength - request.prompt.length);
  }

  /** Positions in its row: the prompt and every sampled token but the last, which is not computed yet. */
  get cachedLength(): number {
    return this.request.prompt.length + Math.max(0, this.tokens.length - 1);
  }

  /** The token to compute next. */
  get lastToken(): TokenId {
    return this.tokens[this.tokens.length - 1]!;
  }

  /** Guess of the tokens after {@link lastToken}. At most `most`, and one fewer than the budget has left. */
  guess(most: number): readonly TokenId[] {
    const count = Math.min(most, this.#trust, this.#budget - this.tokens.length - 1);
    return count < 1 ? [] : lookUp([...this.request.prompt, ...this.tokens], count);
  }

  /** Adapts the length of the next guess: twice as long after a right one, otherwise as long as its right part. */
  learn({ guessed, right }: { readonly guessed: number; readonly right: number }): void {
    this.#trust = right === guessed ? 2 * guessed : Math.max(1, right);
  }

  /** The number in [0, 1) that draws the next token, if it is drawn from the model's own distribution. */
  get uniform(): number | undefined {
    const { temperature, topK, topP, minP } = this.request;
    const isPlain = temperature > 0 && topK === 0 && topP === 1 && minP === 0 && this.#seen === undefined;
    return isPlain ? this.#random.at(this.tokens.length) : undefined;
  }

  /** Takes a token that was drawn with {@link uniform}. */
  take(token: TokenId, probability: number): void {
    this.#append(token, Math.log(probability));
  }

  /**
   * Draws the next token.
   *
   * @param distribution - At {@link reportingTemperature}. A repetition penalty needs its logits.
   * @param scratch - Overwritten. Shape: `[V]`.
   */
  advance(distribution: Distribution, scratch: Float32Array): void {
    const token = this.#choose(this.#penalized(distribution, scratch));
    this.#append(token, logprobOf(token, distribution));
  }

  #append(token: TokenId, logprob: number): void {
    if (!Number.isFinite(logprob)) {
      throw new SamplerError(
        `sample: the model's distribution is not finite after ${this.request.prompt.length + this.tokens.length} tokens; its weights have diverged or are damaged; go back to an earlier checkpoint`,
      );
    }
    this.tokens.push(token);
    this.logprobs.push(Math.min(0, logprob));
    this.#seen?.add(token);
    if (this.#stopTokens.has(token)) this.stopReason = 'stop';
    else if (this.tokens.length >= this.#budget) this.stopReason = 'length';
  }

  #penalized({ probabilities, logits }: Distribution, scratch: Float32Array): Float32Array {
    if (this.#seen === undefined || logits === undefined) return probabilities;
    penalizeRepetition(logits, this.#seen, this.request.repetitionPenalty, scratch);
    return scratch;
  }

  #choose(probabilities: Float32Array): TokenId {
    if (this.request.temperature === 0) return mostLikely(probabilities);
    return drawToken(probabilities, this.request, this.#random.at(this.tokens.length));
  }
}
