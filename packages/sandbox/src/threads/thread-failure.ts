import { fileURLToPath } from 'node:url';
import { messageOf } from '@rlp/core';

/**
 * Describes why a thread failed. Adds a remedy if its program is missing, because bundles hold only what
 * their entry imports, and if Node cannot load a TypeScript module.
 */
export function threadFailure(error: unknown, program: URL): string {
  const message = messageOf(error);
  if (message.includes(fileURLToPath(program))) {
    return `${message}; if you bundle your server, mark @rlp/* as external`;
  }
  return /Unknown file extension "\.[cm]?ts"/.test(message)
    ? `${message}; use Node 22.18 or later, start this program with node --import tsx, or build the module to JavaScript`
    : message;
}
