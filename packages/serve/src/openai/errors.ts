import { type ApiError, apiErrorOf } from '../api-error.ts';
import type { StreamEvent } from '../event-stream.ts';

/** An error in the words of OpenAI's API. vLLM has the same. */
export function openaiError({ status, message, facts }: ApiError): object {
  return { error: { message, type: typeOf(status), param: facts.param ?? null, code: facts.code ?? null } };
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 404) return 'not_found_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

/** An error after the first event of a stream. Clients of OpenAI look for `error` in the data. */
export function openaiFailure(error: unknown): StreamEvent {
  return { data: openaiError(apiErrorOf(error)) };
}
