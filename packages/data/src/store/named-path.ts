/**
 * Adds a path to an error of the system that has none, such as that of a full disk: a write to an open file does not say which.
 *
 * @returns The same error.
 */
export function namedPath(cause: unknown, path: string): unknown {
  if (cause instanceof Error && 'syscall' in cause && !('path' in cause)) {
    Object.assign(cause, { path, message: `${cause.message} '${path}'` });
  }
  return cause;
}
