import { anthropicError } from './anthropic/errors.ts';
import type { ApiError } from './api-error.ts';
import { openaiError } from './openai/errors.ts';

/** How a family of routes words errors. */
interface ErrorShape {
  /** Whether an address is of the family. */
  readonly matches: RegExp;
  readonly body: (error: ApiError) => unknown;
}

/** The first that matches counts. All else is worded as OpenAI does. */
const shapes: readonly ErrorShape[] = [{ matches: /\/v1\/messages(\/|$)/, body: anthropicError }];

/** Body of the answer to a request that fails. */
export function errorBody(error: ApiError, path: string): unknown {
  const { body } = shapes.find(({ matches }) => matches.test(path)) ?? { body: openaiError };
  return body(error);
}
