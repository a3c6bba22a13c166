/** Bundles the programs that run in pages to modules that export their text. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The program as text. */
export async function bundleClient(entry) {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`client/${entry}`, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    loader: { '.css': 'text' },
    conditions: ['@rlp/source'],
  });
  // Nothing in it may end the script element that holds it.
  return `${licences(metafile)}${outputFiles[0].text}`
    .replaceAll('</script', '<\\/script')
    .replaceAll('<!--', '<\\!--');
}

/** Licences of the bundled packages, as comments. They ask that each copy has them. */
function licences({ inputs }) {
  const packages = Object.keys(inputs).flatMap(
    (path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/)?.[0] ?? [],
  );
  const texts = [...new Set(packages)].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    if (file === undefined) throw new Error(`${folder}: expected a file with its licence`);
    return `/*! ${name} ${version}\n${readFileSync(join(folder, file), 'utf8').trim()}\n*/\n`;
  });
  return texts.join('');
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
