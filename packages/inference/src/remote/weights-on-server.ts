import { nodeBuiltin } from '@rlp/core';
import type { RemoteWeights } from './remote-server.ts';

/** Converts the path of a local directory to the server's path. Default: the same path. */
type RemotePath = ((path: string) => string) | undefined;

/** Path of a local directory on the server. */
export function pathOnServer(path: string, remotePath: RemotePath): string {
  const absolute = nodeBuiltin<{ readonly resolve: (path: string) => string }>('node:path').resolve(path);
  return remotePath?.(absolute) ?? absolute;
}

/** Name of an adapter on a server. It differs for other versions and other directories. */
export function adapterName(version: number, path: string): string {
  return `rlp-${version}-${path.replace(/[^\w.-]+/g, '-').slice(-80)}`;
}

/** Path and version of the checkpoint that a server falls back to: the current one, or the one that it was started with. */
export function checkpointOf(
  { publication }: RemoteWeights,
  { root, remotePath }: { readonly root: string; readonly remotePath?: RemotePath },
): readonly [path: string, version: string] {
  if (publication?.kind !== 'checkpoint') return [root, 'default'];
  return [pathOnServer(publication.path, remotePath), String(publication.version)];
}

/**
 * Whether an answer is of other weights than were asked for. The name of the weights that a server was started with is not known, so only
 * that of a checkpoint that was loaded since is wrong.
 *
 * @param loaded - Name of the checkpoint that was loaded last.
 */
export function isOfOthers(
  found: string,
  { version, publication }: RemoteWeights,
  loaded: string | undefined,
): boolean {
  if (publication === undefined) return found === loaded;
  return publication.kind === 'checkpoint' && found !== String(version);
}
