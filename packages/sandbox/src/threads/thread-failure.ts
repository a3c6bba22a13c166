import { fileURLToPath } from 'node:url';
import { messageOf } from '@rlp/core';

/**
 * Describes why a thread failed. Adds a remedy if its program is missing, because bundles hold only what
 * their entry imports.
 */
export function threadFailure(error: unknown, program: URL): string {
  const message = messageOf(error);
  return message.includes(fileURLToPath(program))
    ? `${message}; if you bundle your server, mark @rlp/* as external`
    : message;
}
