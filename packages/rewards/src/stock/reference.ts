import { ArgumentError } from '@rlp/core';

/**
 * The reference of a task if it is text that is not empty.
 *
 * @throws ArgumentError for anything else: a task without what its reward reads cannot be scored.
 */
export function requireReference(
  owner: string,
  task: string,
  reference: unknown,
  kind = 'text that is not empty',
): string {
  if (typeof reference === 'string' && reference.trim() !== '') return reference;
  throw new ArgumentError(
    `${owner}: the reference of task "${task}" must be ${kind}, got ${JSON.stringify(reference)}`,
  );
}
