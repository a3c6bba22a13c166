import { ArgumentError, SamplerError } from '@rlp/core';
import { RequestError } from '@rlp/http/client';

/** What to do about a failed request. */
function remedyOf(error: RequestError): string {
  const { failure, status } = error;
  if (failure === 'unreachable') return 'check that the server runs and that `url` is its address';
  if (failure === 'timed-out') return 'raise `timeoutMs`, or sample less at once';
  if (failure === 'too-long') return 'raise `maxAnswerBytes`, or lower `maxTokens`';
  if (status === 401 || status === 403) return 'check `token`';
  if (status === 404)
    return 'check `url` and `model`, and that the server was not restarted with another model';
  if (status === 429) return 'the server is busy; sample less at once';
  if (status !== undefined && status >= 500) return 'see the log of the server';
  return 'check that `url` leads to a server of this kind, and not to a proxy before it';
}

/** The sentence that a caller sees for a failed request: what came, in the server's words, and what to do. */
function describeFailure(error: RequestError): string {
  // The message says what to do.
  if (error.failure === 'untrusted') return error.message;
  const said = error.detail === undefined ? '' : ` ("${error.detail}")`;
  return `${error.message}${said}; ${remedyOf(error)}`;
}

/** A failed request as a `SamplerError`. Other errors stay as they are. */
export function samplerError(owner: string, error: unknown): unknown {
  if (!(error instanceof RequestError)) return error;
  return new SamplerError(`${owner}: ${describeFailure(error)}`, { cause: error });
}

/** A failed request of a factory as an `ArgumentError`, because its options may be wrong. Other errors stay as they are. */
export function startError(owner: string, error: unknown): unknown {
  if (!(error instanceof RequestError)) return error;
  return new ArgumentError(`${owner}: ${describeFailure(error)}`, { cause: error });
}
