import { type SamplingOptions, settleWithin, type TokenId } from '@rlp/core';
import type { Admission } from '../admission.ts';
import { ApiError } from '../api-error.ts';
import type { ServedPolicy } from '../served-policy.ts';
import type { ServedWeights } from '../weights/served-weights.ts';
import { askedRequest, type RenderConversation, renderByTemplate, requireFitting } from './asked-request.ts';
import type { AnswerObserver, AskedRequest } from './observer.ts';
import { Pieces } from './pieces.ts';
import type { Answer, AnswerPiece, AnswerRequest, Unmet } from './request.ts';
import { sampleAnswer } from './sample-answer.ts';
import { type ScoredPlace, scorePrompt } from './score-prompt.ts';

/** What an {@link Answerer} works with. */
export interface AnswererOptions {
  /** What answers. Required. */
  readonly policy: ServedPolicy;
  /** Weights in force, and turns of those who change them. Required. */
  readonly weights: ServedWeights;
  /** Lets requests in, up to a limit. Required. */
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
  /** Called with what a client asked for and cannot be done. The request is then answered without it. Default: it is refused. */
  readonly onUnmet?: ((unmet: Unmet) => void) | undefined;
}

/** A prompt whose tokens are scored. */
export interface PromptToScore {
  readonly model?: string | undefined;
  readonly tokens: readonly TokenId[];
  /** How many likely tokens are listed at each place. `'all'` lists the vocabulary. */
  readonly likely: number | 'all';
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

  /** Logprobs of a prompt's tokens at temperature 1. The first one has none. */
  async score(
    { model, tokens, likely }: PromptToScore,
    signal: AbortSignal,
  ): Promise<readonly (ScoredPlace | null)[]> {
    requireFitting(tokens, this.policy, 0);
    const name = this.weights.resolve(model);
    const stop = new AbortController();
    const leave = await this.#enter(stop, signal);
    try {
      const work = this.weights.use(name, stop.signal, (running) =>
        scorePrompt(this.policy, tokens, { likely, signal: running }),
      );
      return await settleWithin(work, stop, { timeoutMs: this.#options.timeoutMs, signal });
    } finally {
      leave();
    }
  }

  /**
   * Checks a request, waits for a place, and starts to answer. Aborting the signal ends the sampling.
   *
   * @throws ApiError for a request that cannot be answered, or if too many wait.
   */
  async begin(
    request: AnswerRequest,
    { signal, pieces: wanted }: { readonly signal: AbortSignal; readonly pieces: 'wanted' | 'none' },
  ): Promise<Answering> {
    const asked = this.#checked(request);
    const stop = new AbortController();
    const leave = await this.#enter(stop, signal);
    const pieces = new Pieces<AnswerPiece>();
    const answer = this.#answered(asked, async () => {
      const work = this.weights.use(asked.model, stop.signal, (running) =>
        sampleAnswer(asked, {
          ...{ policy: this.policy, signal: running, topLogprobs: request.topLogprobs ?? 0 },
          ends: request.ends ?? 'kept',
          maxCalls: request.maxCalls ?? Number.POSITIVE_INFINITY,
          ...(wanted === 'wanted' && { onPiece: (piece) => pieces.add(piece) }),
        }),
      );
      return settleWithin(work, stop, { timeoutMs: this.#options.timeoutMs, signal });
    }).finally(leave);
    answer.then(
      () => pieces.end(),
      (error: unknown) => pieces.end({ error }),
    );
    return { request: asked, pieces, answer };
  }

  /** Waits for a place. */
  async #enter(stop: AbortController, signal: AbortSignal): Promise<() => void> {
    const { admission, timeoutMs } = this.#options;
    signal.throwIfAborted();
    const free = admission.enterNow();
    if (free !== undefined) return free;
    const entering = admission.enter(stop.signal);
    return settleWithin(entering, stop, { timeoutMs, signal }).catch((error: unknown) => {
      // The place may have come free at the very moment.
      entering.then((leave) => leave()).catch(() => undefined);
      throw error;
    });
  }

  #checked(request: AnswerRequest): AskedRequest {
    try {
      return this.#asked(request);
    } catch (error) {
      this.#options.observer?.refused?.(error);
      throw error;
    }
  }

  #asked(request: AnswerRequest): AskedRequest {
    const { seedOf, render = renderByTemplate, sampling, onUnmet = refuse } = this.#options;
    request.unmet?.forEach(onUnmet);
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

function refuse({ param, problem }: Unmet): never {
  throw new ApiError(400, `${param}: ${problem}`, { param });
}
