import type { Tokenizer, TokenScorer } from '@rlp/core';

/** A prompt and the response to judge. */
export interface FluencyRequest {
  readonly prompt: string;
  readonly response: string;
}

/** Asks a language model how well a response reads. */
export interface FluencyScorer {
  /** One perplexity (≥ 1) per request, in order; `null` for a response it cannot judge. */
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
export function tokenFluency({
  scorer,
  tokenizer,
}: {
  readonly scorer: TokenScorer;
  readonly tokenizer: Pick<Tokenizer, 'encode'>;
}): FluencyScorer {
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
