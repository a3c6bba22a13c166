import { type SamplingOptions, settleWithin } from '@rlp/core';
import type { Admission } from '../admission.ts';
import type { ServedPolicy } from '../served-policy.ts';
import type { ServedWeights } from '../weights/served-weights.ts';
import { askedRequest, type RenderConversation, renderByTemplate } from './asked-request.ts';
import type { AnswerObserver, AskedRequest } from './observer.ts';
import { Pieces } from './pieces.ts';
import type { Answer, AnswerPiece, AnswerRequest } from './request.ts';
import { sampleAnswer } from './sample-answer.ts';

/** What an {@link Answerer} works with. */
export interface AnswererOptions {
  readonly policy: ServedPolicy;
  readonly weights: ServedWeights;
  readonly admission: Admission;
  /** Milliseconds that a request may wait, and that its answer may take. */
  readonly timeoutMs: number;
  /** Seed of the n-th request, if it brings none. */
  readonly seedOf: (index: number) => string;
  /** Told of each request. Default nobody. */
  readonly observer?: AnswerObserver | undefined;
  /** Sampling options that override those of requests. Default none. */
  readonly sampling?: Partial<SamplingOptions> | undefined;
  /** Default: the chat template of the model. */
  readonly render?: RenderConversation | undefined;
}

/** A request under way. */
export interface Answering {
  readonly request: AskedRequest;
  /** Parts of the answers, as they become certain. Empty unless they were wanted. */
  readonly pieces: AsyncIterable<AnswerPiece>;
  /** All answers. */
  readonly answer: Promise<Answer>;
}

/**
 * Answers requests with a policy, for every family of routes.
 *
 * It renders conversations, samples, takes calls of tools out of the text, and reports each request to an observer.
 */
export class Answerer {
  readonly #options: AnswererOptions;
  #requests = 0;

  constructor(options: AnswererOptions) {
    this.#options = options;
  }

  get policy(): ServedPolicy {
    return this.#options.policy;
  }

  get weights(): ServedWeights {
    return this.#options.weights;
  }

  /** An answerer of the same policy with other options. It shares the limits and counts its own requests. */
  with(options: Partial<Omit<AnswererOptions, 'policy' | 'weights' | 'admission'>>): Answerer {
    return new Answerer({ ...this.#options, ...options });
  }

  /** Answers a request. Rejects as {@link Answerer.begin} and sampling do. */
  async answer(request: AnswerRequest, signal: AbortSignal): Promise<Answer> {
    return (await this.begin(request, { signal, pieces: 'none' })).answer;
  }

  /**
   * Checks a request, waits for a place, and starts to answer. Aborting the signal ends the sampling.
   *
   * @throws `ApiError` for a request that cannot be answered, or if too many wait.
   */
  async begin(
    request: AnswerRequest,
    { signal, pieces: wanted }: { readonly signal: AbortSignal; readonly pieces: 'wanted' | 'none' },
  ): Promise<Answering> {
    const asked = this.#asked(request);
    const stop = new AbortController();
    const limits = { timeoutMs: this.#options.timeoutMs, signal };
    const entering = this.#options.admission.enter(stop.signal);
    const leave = await settleWithin(entering, stop, limits).catch((error: unknown) => {
      // The place may have come free at the very moment.
      entering.then((late) => late()).catch(() => undefined);
      throw error;
    });
    const pieces = new Pieces<AnswerPiece>();
    const answer = this.#answered(asked, async () => {
      const work = this.weights.use(asked.model, stop.signal, (running) =>
        sampleAnswer(asked, {
          ...{ policy: this.policy, signal: running, topLogprobs: request.topLogprobs ?? 0 },
          maxCalls: request.maxCalls ?? Number.POSITIVE_INFINITY,
          ...(wanted === 'wanted' && { onPiece: (piece) => pieces.add(piece) }),
        }),
      );
      return settleWithin(work, stop, limits);
    }).finally(leave);
    answer.then(
      () => pieces.end(),
      (error: unknown) => pieces.end({ error }),
    );
    return { request: asked, pieces, answer };
  }

  #asked(request: AnswerRequest): AskedRequest {
    const { seedOf, render = renderByTemplate, sampling } = this.#options;
    const model = this.weights.resolve(request.model);
    const index = this.#requests;
    const seed = request.seed ?? seedOf(index);
    const asked = askedRequest(request, { policy: this.policy, index, model, seed, render, sampling });
    this.#requests += 1;
    return asked;
  }

  async #answered(asked: AskedRequest, sample: () => Promise<Answer>): Promise<Answer> {
    const { observer } = this.#options;
    try {
      observer?.asked?.(asked);
      const answer = await sample();
      observer?.answered?.(asked, answer);
      return answer;
    } catch (error) {
      observer?.failed?.(asked, error);
      throw error;
    }
  }
}
