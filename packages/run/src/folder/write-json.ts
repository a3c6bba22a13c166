import { writeTextFile } from '@rlp/data/store';

/** Writes a value as JSON that people can read. Makes its folder. */
export function writeJson(path: string, value: unknown): Promise<void> {
  return writeTextFile(path, `${JSON.stringify(value, undefined, 2)}\n`);
}
