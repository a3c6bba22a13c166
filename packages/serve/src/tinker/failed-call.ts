import { apiErrorOf } from '../api-error.ts';

/** Result of a call that failed. `category` says whose fault it is. */
export interface FailedCall {
  readonly error: string;
  readonly category: 'user' | 'server';
}

/** What a client learns of a call that failed. Errors that nobody expected keep their details here. */
export function failedCall(error: unknown): FailedCall {
  const { status, message } = apiErrorOf(error);
  return { error: message, category: status < 500 ? 'user' : 'server' };
}
