import { fileURLToPath } from 'node:url';
import { messageOf } from './message-of.ts';

/** Why a thread failed, and what to do where its program is missing: a bundle holds only what its entry imports. */
export function threadFailure(error: unknown, program: URL): string {
  const message = messageOf(error);
  return message.includes(fileURLToPath(program))
    ? `${message}; a bundle must leave @rlp/rewards out, as an external package`
    : message;
}
