import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError, EnvironmentError } from '@rlp/core';

/**
 * A path within a folder, with `/` between its parts. Throws an `ArgumentError` for one that leaves the folder or that no system
 * could hold.
 */
export function safePath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const isWrong = (part: string) => part === '..' || part.length > 200 || [...part].some(isStrange);
  if (path.startsWith('/') || parts.length === 0 || parts.length > 32 || parts.some(isWrong)) {
    throw new ArgumentError(
      `expected the path of a file below the folder, such as "src/main.js", got ${JSON.stringify(path.slice(0, 200))}`,
    );
  }
  return parts.join('/');
}

/** Refuses a path of which any part is a link or a device, because it may lead out of the folder. */
export async function refuseLinks(root: string, path: string): Promise<void> {
  let place = root;
  for (const part of path.split('/')) {
    place = join(place, part);
    const found = await lstat(place).catch(() => undefined);
    if (found === undefined) return;
    if (!found.isFile() && !found.isDirectory()) throw strange(path);
  }
}

/** The error for what is neither a file nor a folder. */
export function strange(path: string): EnvironmentError {
  return new EnvironmentError(`"${path}" is a link or a device; the folder may hold only files and folders`);
}

/** Control characters, and what means something in paths of other systems. */
function isStrange(character: string): boolean {
  return character < ' ' || character === '\\' || character === ':';
}
