import { nodeBuiltin } from '@rlp/core';

/** Where a server finds a directory of this machine. */
export function pathOnServer(path: string, remotePath: ((path: string) => string) | undefined): string {
  const absolute = nodeBuiltin<{ readonly resolve: (path: string) => string }>('node:path').resolve(path);
  return remotePath?.(absolute) ?? absolute;
}
