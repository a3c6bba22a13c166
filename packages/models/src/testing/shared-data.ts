import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.env.RLP_SHARED ?? fileURLToPath(new URL('../../../../../shared', import.meta.url));

/** Folder of checkpoints, tokenizers and templates for some tests. They skip if it is absent. */
export const sharedData: string = join(root, 'data');

const ofRepository = fileURLToPath(new URL('../../../../examples/models', import.meta.url));

/** Folder of a golden model: the shared one, or the repository's own. */
export function goldenFolder(name: string): string {
  const folder = join(sharedData, name);
  return existsSync(folder) ? folder : join(ofRepository, name);
}

/** Those of some golden models that this machine has. */
export function present<Name extends string>(names: readonly Name[]): Name[] {
  return names.filter((name) => existsSync(goldenFolder(name)));
}

/** Whether the folder is there; prints why tests will skip if not. */
export function hasSharedData(): boolean {
  const present = existsSync(sharedData);
  if (!present)
    console.warn(`skipping golden tests: ${sharedData} is absent; set RLP_SHARED to the shared folder`);
  return present;
}

/** Parses a JSON file of a golden model. */
export function goldenJson<Content>(name: string, file: string): Content {
  return JSON.parse(readFileSync(join(goldenFolder(name), file), 'utf8')) as Content;
}
