import type { Message, SamplingOptions, TokenId, ToolSchema } from '@rlp/core';
import type { Answer } from './request.ts';

/** A request as it goes to the sampler. */
export interface AskedRequest {
  /** Counts the requests of an answerer, from 0. */
  readonly index: number;
  /** Name of the weights that answer. */
  readonly model: string;
  /** The prompt as the model sees it. */
  readonly promptTokens: readonly TokenId[];
  /** The conversation behind the prompt. Absent for a prompt of text or tokens. */
  readonly messages?: readonly Message[] | undefined;
  /** Tools that are shown to the model. Absent without tools, or if it must not call them. */
  readonly tools?: readonly ToolSchema[] | undefined;
  /** Text that the answer is made to begin with, to force a call. Its tokens end the prompt. */
  readonly prefix: string;
  readonly sampling: SamplingOptions;
  readonly count: number;
  readonly seed: string;
}

/** Told of each request. What it throws fails the request. */
export interface AnswerObserver {
  /** Called before sampling starts. */
  asked?(request: AskedRequest): void;
  /** Called with the answers before the client gets the end of them. */
  answered?(request: AskedRequest, answer: Answer): void;
  /** Called if sampling failed or the client went away. */
  failed?(request: AskedRequest, error: unknown): void;
  /** Called if a request is refused before that, such as one that is too long. */
  refused?(error: unknown): void;
}

/** An observer that tells two others, the first one first. */
export function bothObservers(first: AnswerObserver, second: AnswerObserver): AnswerObserver {
  return {
    asked(request) {
      first.asked?.(request);
      second.asked?.(request);
    },
    answered(request, answer) {
      first.answered?.(request, answer);
      second.answered?.(request, answer);
    },
    failed(request, error) {
      first.failed?.(request, error);
      second.failed?.(request, error);
    },
    refused(error) {
      first.refused?.(error);
      second.refused?.(error);
    },
  };
}
