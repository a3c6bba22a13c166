import type { Termination } from './trajectory.ts';

/**
 * How a response ends its episode by a pattern, or `undefined` if it does not.
 *
 * @param pattern - Regular expression, or `undefined` for none.
 */
export function patternTermination(pattern: string | undefined, response: string): Termination | undefined {
  if (pattern === undefined || !new RegExp(pattern).test(response)) return undefined;
  return { reason: 'pattern', detail: pattern };
}
