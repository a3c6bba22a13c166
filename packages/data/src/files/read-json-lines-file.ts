import { createReadStream } from 'node:fs';
import type { JsonLine } from '../lines/json-lines.ts';
import { type JsonLinesStreamOptions, readJsonLines } from '../lines/read-json-lines.ts';

/**
 * Reads a file of JSON Lines with flat memory, however large it is. Errors name the file unless `source` is given.
 *
 * @throws `FormatError` naming file, line and field of the first malformed line; the system's error; the signal's reason.
 */
export function readJsonLinesFile<Value = unknown>(
  path: string,
  options: JsonLinesStreamOptions<Value> = {},
): AsyncIterableIterator<JsonLine<Value>> {
  return readJsonLines<Value>(chunksOf(path), { source: path, ...options });
}

/** Opens the file with the first chunk that is asked for. */
async function* chunksOf(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield* createReadStream(path, { highWaterMark: 262_144 }) as AsyncIterable<Uint8Array>;
}
