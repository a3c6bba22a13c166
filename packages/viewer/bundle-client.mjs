/** Bundles the programs that run in pages to modules that export their text. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The program as text. */
export async function bundleClient(entry) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`client/${entry}`, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'inline',
    loader: { '.css': 'text' },
    conditions: ['@rlp/source'],
  });
  // Nothing in it may end the script element that holds it.
  return outputFiles[0].text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(new URL('dist/', import.meta.url), { recursive: true });
  for (const [entry, file] of [
    ['main.tsx', 'client-code.js'],
    ['run-page/main.tsx', 'runs-client-code.js'],
  ]) {
    const code = `export const clientCode = ${JSON.stringify(await bundleClient(entry))};\n`;
    writeFileSync(new URL(`dist/${file}`, import.meta.url), code);
  }
}
