import { withoutTemporaryNames } from './temporary-names.ts';

/**
 * Names the path that was to be written in an error of the system. It replaces temporary names, and is added if there is no path, as in the error
 * of a full disk.
 *
 * @returns The same error.
 */
export function namedPath(cause: unknown, path: string): unknown {
  if (!(cause instanceof Error && 'syscall' in cause)) return cause;
  if (!('path' in cause)) return Object.assign(cause, { path, message: `${cause.message} '${path}'` });
  const message = withoutTemporaryNames(cause.message);
  return Object.assign(cause, { path: withoutTemporaryNames(String(cause.path)), message });
}
