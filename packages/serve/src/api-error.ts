import {
  ArgumentError,
  FormatError,
  messageOf,
  OptionsError,
  RlpError,
  SamplerError,
  TimeoutError,
} from '@rlp/core';
import { Refusal } from '@rlp/http';

/** Further facts of an {@link ApiError}. */
export interface ApiErrorFacts {
  /** Word that programs recognise the error by, such as `context_length_exceeded`. Default none. */
  readonly code?: string | undefined;
  /** Field of the request that is wrong. Default none. */
  readonly param?: string | undefined;
  /** What programs read besides, in Anthropic's words. Default none. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Seconds after which the client may ask again. Default none. */
  readonly retryAfterSeconds?: number | undefined;
}

/** A request that is answered with an error. Each family of routes words it in its own shape. */
export class ApiError extends RlpError {
  override readonly name = 'ApiError';
  /** HTTP status, 400 to 599. */
  readonly status: number;
  readonly facts: ApiErrorFacts;

  constructor(status: number, message: string, facts: ApiErrorFacts = {}) {
    super(message);
    this.status = status;
    this.facts = facts;
  }
}

/** What a client is told of an error. What nobody expected is a 500 without details. */
export function apiErrorOf(error: unknown): ApiError {
  return knownError(error) ?? new ApiError(500, 'the server failed; see its log');
}

/** Whether clients are not told what an error says. Somebody else has to be. */
export function isHidden(error: unknown): boolean {
  return knownError(error) === undefined;
}

function knownError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof Refusal) return new ApiError(error.status, error.message);
  if (error instanceof TimeoutError) return new ApiError(504, error.message, { code: 'timeout' });
  if (error instanceof ArgumentError || error instanceof OptionsError || error instanceof FormatError) {
    return new ApiError(400, error.message);
  }
  return error instanceof SamplerError ? new ApiError(500, messageOf(error)) : undefined;
}
