/** Tarballs of packages as pnpm packs them. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Manifest } from './workspace.ts';

/** Folder that `check-packages.ts` packs to. */
export const tarballs = 'runs/check/tarballs';

/** Path of a package's tarball. */
export function tarballOf({ name, version }: Manifest): string {
  return `${tarballs}/${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
}

/** Content of each file of a tarball, by its path in the package. */
export function filesOfTarball(path: string): Map<string, Buffer> {
  const archive = gunzipSync(readFileSync(path));
  const files = new Map<string, Buffer>();
  for (let at = 0; archive[at] !== undefined && archive[at] !== 0; ) {
    const text = (start: number, length: number) =>
      archive.toString('utf8', at + start, at + start + length).replace(/\0.*$/s, '');
    const size = Number.parseInt(text(124, 12), 8);
    const name = [text(345, 155), text(0, 100)].filter((part) => part !== '').join('/');
    files.set(name.replace(/^package\//, ''), archive.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
