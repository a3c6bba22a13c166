/** Bundles the program that runs in the page to a module that exports its text. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The program as text. */
export async function bundleClient() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('client/main.tsx', import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    conditions: ['@rlp/source'],
  });
  // Nothing in it may end the script element that holds it.
  return outputFiles[0].text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(new URL('dist/', import.meta.url), { recursive: true });
  const code = await bundleClient();
  writeFileSync(
    new URL('dist/client-code.js', import.meta.url),
    `export const clientCode = ${JSON.stringify(code)};\n`,
  );
}
