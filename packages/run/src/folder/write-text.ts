import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeFiles } from '@rlp/data/store';

/** Writes a file as a whole or not at all. Makes its folder. */
export async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFiles(new Map([[path, (temporary: string) => writeFile(temporary, text)]]));
}

/** Writes a value as JSON that people can read. */
export function writeJson(path: string, value: unknown): Promise<void> {
  return writeText(path, `${JSON.stringify(value, undefined, 2)}\n`);
}
