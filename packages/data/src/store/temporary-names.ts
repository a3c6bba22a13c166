import { type FileSystem, hasCode, namesIn, paths, removeTree, statusOf } from './file-system.ts';
import type { StoreHost } from './host.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** `partial` is being written, `replaced` was the target until a moment ago, `removed` is being deleted. */
export type TemporaryKind = 'partial' | 'replaced' | 'removed';

/** A hidden name beside the one it will have or had. It says which process made it. */
export interface TemporaryName {
  readonly name: string;
  /** Name of the target. */
  readonly target: string;
  readonly kind: TemporaryKind;
  readonly owner: Pick<ProcessIdentity, 'machine' | 'pid' | 'started'>;
}

const pattern = /^\.(.+)\.([0-9a-f]{8})-(\d+)-(\d+)\.[0-9a-f]{8}\.(partial|replaced|removed)$/;

const withinPath =
  /(?<=^|[\s'/\\])\.([^/\\']+)\.[0-9a-f]{8}-\d+-\d+\.[0-9a-f]{8}\.(?:partial|replaced|removed)(?=$|['/\\])/g;

/** A path or a sentence with the names that its files will have or had. */
export const withoutTemporaryNames = (text: string): string => text.replace(withinPath, '$1');

/** Age in milliseconds after which the leftovers of a process on another machine are swept. */
const abandonedAfterMs = 86_400_000;

/** A new temporary path beside `path`. No other process and no other call gets the same. */
export function temporaryPath(host: StoreHost, path: string, kind: TemporaryKind): string {
  const { machine, pid, started } = host.self;
  const name = `.${paths().basename(path)}.${machine}-${pid}-${started}.${host.unique()}.${kind}`;
  return paths().join(paths().dirname(path), name);
}

/** Reads a name that {@link temporaryPath} made. */
export function parseTemporaryName(name: string): TemporaryName | undefined {
  const match = pattern.exec(name);
  if (match === null) return undefined;
  const [, target = '', machine = '', pid, started, kind] = match;
  return {
    name,
    target,
    kind: kind as TemporaryKind,
    owner: { machine, pid: Number(pid), started: Number(started) },
  };
}

/** Temporary names in a directory whose target passes the filter. */
export async function temporaryNames(
  files: FileSystem,
  directory: string,
  isWanted: (target: string) => boolean,
): Promise<TemporaryName[]> {
  const found = (await namesIn(files, directory)).map(parseTemporaryName);
  return found.filter((name) => name !== undefined).filter(({ target }) => isWanted(target));
}

/** Whether no process will go on with a temporary name. */
export async function isAbandoned(
  host: StoreHost,
  directory: string,
  { name, owner }: TemporaryName,
): Promise<boolean> {
  const liveness = host.liveness({ host: '', ...owner });
  if (liveness !== 'unknown') return liveness === 'dead';
  const status = await statusOf(host.files, paths().join(directory, name));
  return status !== undefined && host.now() - status.mtimeMs > abandonedAfterMs;
}

/**
 * Removes a tree that was partly written or is no longer wanted. Errors are ignored.
 *
 * The error that led here says more. What stays is swept the next time.
 */
export async function discard(files: FileSystem, path: string): Promise<void> {
  await removeTree(files, path).catch(() => undefined);
}

/** Renames without an error if the source is gone. Returns whether it was there. */
export async function renameIfThere(files: FileSystem, from: string, to: string): Promise<boolean> {
  try {
    await files.rename(from, to);
    return true;
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return false;
    throw cause;
  }
}
