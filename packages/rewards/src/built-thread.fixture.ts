import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll } from 'vitest';

/**
 * A module for threads as one file of JavaScript, there until the tests of the file end: a thread starts on it in a fraction of the
 * time that it takes to load TypeScript. It lies where this package's dependencies can be found.
 */
export async function built(source: URL): Promise<URL> {
  const name = `${basename(source.pathname, '.ts')}-${process.pid}.mjs`;
  const outfile = fileURLToPath(new URL(`../node_modules/.cache/threads/${name}`, import.meta.url));
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['@rlp/source'],
    external: ['quickjs-emscripten-core', '@jitl/*'],
    logLevel: 'silent',
  });
  afterAll(() => rm(outfile, { force: true }));
  return pathToFileURL(outfile);
}
