import { type ApiError, apiErrorOf } from '../api-error.ts';
import type { StreamEvent } from '../event-stream.ts';

/** An error in the words of Anthropic's API. */
export function anthropicError({ status, message, facts: { details } }: ApiError): object {
  return { type: 'error', error: { type: typeOf(status), message, ...(details && { details }) } };
}

/** An error after the first event of a stream. */
export function anthropicFailure(error: unknown): StreamEvent {
  return { event: 'error', data: anthropicError(apiErrorOf(error)) };
}

function typeOf(status: number): string {
  const types: Readonly<Record<number, string>> = {
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
    503: 'overloaded_error',
    504: 'timeout_error',
  };
  return types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}
