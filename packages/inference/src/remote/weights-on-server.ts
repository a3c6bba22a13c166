import { nodeBuiltin } from '@rlp/core';
import type { RemoteWeights } from './remote-server.ts';

/** Translates a directory of this machine to where a server finds it. Default: the same path. */
type RemotePath = ((path: string) => string) | undefined;

/** Where a server finds a directory of this machine. */
export function pathOnServer(path: string, remotePath: RemotePath): string {
  const absolute = nodeBuiltin<{ readonly resolve: (path: string) => string }>('node:path').resolve(path);
  return remotePath?.(absolute) ?? absolute;
}

/** Name of an adapter on a server: other versions and other directories have other names. */
export function adapterName(version: number, path: string): string {
  return `rlp-${version}-${path.replace(/[^\w.-]+/g, '-').slice(-80)}`;
}

/** Path and version of the checkpoint that a server falls back to: the one that it holds, or else the one it was started with. */
export function checkpointOf(
  { publication }: RemoteWeights,
  { root, remotePath }: { readonly root: string; readonly remotePath?: RemotePath },
): readonly [path: string, version: string] {
  if (publication?.kind !== 'checkpoint') return [root, 'default'];
  return [pathOnServer(publication.path, remotePath), String(publication.version)];
}
