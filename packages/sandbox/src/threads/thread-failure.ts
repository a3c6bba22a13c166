import { fileURLToPath } from 'node:url';
import { messageOf } from '@rlp/core';

/** Why a thread failed, and what to do if its program is missing: a bundle holds only what its entry imports. */
export function threadFailure(error: unknown, program: URL): string {
  const message = messageOf(error);
  return message.includes(fileURLToPath(program))
    ? `${message}; if you bundle your server, mark @rlp/* as external`
    : message;
}
