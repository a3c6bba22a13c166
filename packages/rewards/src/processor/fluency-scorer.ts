import type { Tokenizer, TokenScorer } from '@rlp/core';
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

/**
 * Fluency by a model, as a function of one request. Requests that are made together are asked about together, `batchSize` at a
 * time. If a request to the scorer fails, its responses are asked about one by one, so that one cannot spoil the others.
 */
export function batchedFluency(
  scorer: FluencyScorer,
  batchSize: number,
): (request: FluencyRequest, signal: AbortSignal | undefined) => Promise<number | null> {
  let waiting: Waiting[] = [];
  const flush = async () => {
    const due = waiting;
    waiting = [];
    for (let start = 0; start < due.length; start += batchSize) {
      await ask(scorer, due.slice(start, start + batchSize));
    }
  };
  return (request, signal) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ request, signal, resolve, reject }) === 1) queueMicrotask(() => void flush());
    });
}

/** A request that waits for its answer. */
interface Waiting {
  readonly request: FluencyRequest;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (reward: number | null) => void;
  readonly reject: (error: unknown) => void;
}

async function ask(scorer: FluencyScorer, part: readonly Waiting[]): Promise<void> {
  const [first] = part;
  try {
    const requests = part.map(({ request }) => request);
    const options = first?.signal === undefined ? {} : { signal: first.signal };
    const answers = await scorer.perplexities(requests, options);
    if (answers.length !== part.length) {
      throw new RangeError(`expected ${part.length} perplexities, got ${answers.length}`);
    }
    for (const [k, { resolve }] of part.entries()) {
      const perplexity = answers[k]!;
      resolve(
        perplexity === null || !Number.isFinite(perplexity) ? perplexity : perplexityReward(perplexity),
      );
    }
  } catch (error) {
    if (part.length === 1 || first?.signal?.aborted) for (const { reject } of part) reject(error);
    else for (const one of part) await ask(scorer, [one]);
  }
}
