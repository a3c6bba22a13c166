import { nodeBuiltin } from '@rlp/core';

/** Node's file functions. Not an import, because policies are also trained in a page and write checkpoints only on request. */
export function fs(): typeof import('node:fs/promises') {
  return nodeBuiltin('node:fs/promises');
}

/** A path of several parts. */
export function join(...parts: readonly string[]): string {
  return nodeBuiltin<typeof import('node:path')>('node:path').join(...parts);
}
