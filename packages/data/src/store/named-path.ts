import { withoutTemporaryNames } from './temporary-names.ts';

/**
 * Says in an error of the system which path was to be written. Errors of a full disk name no path, so it is added. Temporary names are
 * taken out of those that do.
 *
 * @returns The same error.
 */
export function namedPath(cause: unknown, path: string): unknown {
  if (!(cause instanceof Error && 'syscall' in cause)) return cause;
  if (!('path' in cause)) return Object.assign(cause, { path, message: `${cause.message} '${path}'` });
  const message = withoutTemporaryNames(cause.message);
  return Object.assign(cause, { path: withoutTemporaryNames(String(cause.path)), message });
}
