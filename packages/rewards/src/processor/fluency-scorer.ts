import type { Tokenizer, TokenScorer } from '@rlp/core';
import { requireFields } from '@rlp/core';
import type { Batcher } from '../shared/batcher.ts';
import { perplexityReward } from '../stock/text/text-components.ts';

/** A prompt and the response to judge. */
export interface FluencyRequest {
  readonly prompt: string;
  readonly response: string;
}

/** Asks a language model how well a response reads. */
export interface FluencyScorer {
  /** One perplexity (≥ 1) per request, in order. `null` for a response it cannot judge. */
  perplexities(
    requests: readonly FluencyRequest[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly (number | null)[]>;
}

/**
 * Perplexity of responses given their prompts under a model:
 *
 *     perplexity = exp(−(1/T) Σ_t ln π(token_t | prompt, tokens before))
 *
 * A response without tokens is `null`.
 */
export function tokenFluency(options: {
  readonly scorer: TokenScorer;
  readonly tokenizer: Pick<Tokenizer, 'encode'>;
}): FluencyScorer {
  requireFields('tokenFluency', { scorer: 'object', tokenizer: 'object' }, options);
  const { scorer, tokenizer } = options;
  return {
    async perplexities(requests, { signal } = {}) {
      const tokens = requests.map(({ prompt, response }) => ({
        prompt: tokenizer.encode(prompt),
        completion: tokenizer.encode(response, { specialTokens: 'none' }),
      }));
      const scored = tokens.filter(({ completion }) => completion.length > 0);
      const scores = await scorer.scoreTokens(scored, signal === undefined ? {} : { signal });
      let next = 0;
      return tokens.map(({ completion }) => {
        if (completion.length === 0) return null;
        const { logprobs } = scores[next++]!;
        return Math.exp(-logprobs.reduce((sum, logprob) => sum + logprob, 0) / logprobs.length);
      });
    },
  };
}

/** Fluency by a model, as a function of one request. Requests that are made together are asked about together, `batchSize` at a time. */
export function batchedFluency(
  scorer: FluencyScorer,
  batchSize: number,
): (request: FluencyRequest, signal: AbortSignal) => Promise<number | null> {
  let batcher: Promise<Batcher<FluencyRequest, number | null>> | undefined;
  return async (request, signal) => {
    batcher ??= fluencyBatcher(scorer, batchSize);
    return (await batcher).ask(request, signal);
  };
}

/** Loaded once it is needed, so that a page without a scorer does not load it. */
async function fluencyBatcher(scorer: FluencyScorer, batchSize: number) {
  const { Batcher } = await import('../shared/batcher.ts');
  return new Batcher<FluencyRequest, number | null>({
    ...{ batchSize, concurrency: 1, isOfOne: () => true },
    async ask(requests, signal) {
      const answers = await scorer.perplexities(requests, { signal });
      if (answers.length !== requests.length) {
        throw new RangeError(`expected ${requests.length} perplexities, got ${answers.length}`);
      }
      return answers.map((perplexity) =>
        perplexity === null || !Number.isFinite(perplexity) ? perplexity : perplexityReward(perplexity),
      );
    },
  });
}
