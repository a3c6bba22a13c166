import { ArgumentError, type PublicationForm, type PublishOptions } from '@rlp/core';
import { writeDirectory } from '@rlp/data/store';
import { fs, join } from '../node-files.ts';

/**
 * Writes a directory named by its version below `root`. Resolves with its path.
 *
 * Removes all but the last two directories, because a sampler may still read the previous one.
 */
export async function publishFiles(
  root: string,
  version: number,
  write: (directory: string) => Promise<void>,
): Promise<string> {
  const path = join(root, String(version));
  await writeDirectory(path, write);
  await fs().rm(join(root, String(version - 2)), { recursive: true, force: true });
  return path;
}

/**
 * Checks the arguments of `publish`.
 *
 * @throws ArgumentError for a form that the backend does not publish.
 * @throws ArgumentError for files without a directory.
 */
export function requirePublishable(
  { as, directory }: PublishOptions,
  publishes: readonly PublicationForm[],
): void {
  if (!publishes.includes(as)) {
    throw new ArgumentError(
      `publish: this backend publishes as ${publishes.join(', ')}, got ${String(as)}; choose one that it has`,
    );
  }
  if (as !== 'shared' && directory === undefined) {
    throw new ArgumentError(
      `publish: '${as}' writes files; pass the directory that the sampler reads them from`,
    );
  }
}
