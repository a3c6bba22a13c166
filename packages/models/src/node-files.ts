import { nodeBuiltin } from '@rlp/core';

/** Node's file functions. Not an import, because tokenizers and configs also work in a page. */
export function fs(): typeof import('node:fs/promises') {
  return nodeBuiltin('node:fs/promises');
}

/** Node's path functions. */
export function nodePath(): typeof import('node:path') {
  return nodeBuiltin('node:path');
}
