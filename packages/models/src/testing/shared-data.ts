import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.env.RLP_SHARED ?? fileURLToPath(new URL('../../../../../shared', import.meta.url));

/** Folder of checkpoints, tokenizers and templates for some tests. They skip if it is absent. */
export const sharedData: string = join(root, 'data');

/** Whether the folder is there; prints why tests will skip if not. */
export function hasSharedData(): boolean {
  const present = existsSync(sharedData);
  if (!present)
    console.warn(`skipping golden tests: ${sharedData} is absent; set RLP_SHARED to the shared folder`);
  return present;
}

/** Parses a JSON file below the shared data folder. */
export function sharedJson<Content>(...path: string[]): Content {
  return JSON.parse(readFileSync(join(sharedData, ...path), 'utf8')) as Content;
}
