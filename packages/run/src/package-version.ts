import { readFileSync } from 'node:fs';

/** Version of the package. This file is at the root of the sources, as built files are, so the manifest is one folder up. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
