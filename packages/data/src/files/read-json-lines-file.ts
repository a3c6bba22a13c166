import { createReadStream } from 'node:fs';
import { requireArguments } from '@rlp/core';
import type { JsonLine } from '../lines/json-lines.ts';
import { type JsonLinesStreamOptions, readJsonLines } from '../lines/read-json-lines.ts';

/**
 * Reads a file of JSON Lines with constant memory. Errors name the file unless `source` is given.
 *
 * @throws FormatError naming file, line and field of the first malformed line.
 * @throws the system's error or the signal's reason.
 */
export function readJsonLinesFile<Value = unknown>(
  path: string,
  options: JsonLinesStreamOptions<Value> = {},
): AsyncIterableIterator<JsonLine<Value>> {
  requireArguments('readJsonLinesFile', { path: 'text', options: 'object?' }, path, options);
  return readJsonLines<Value>(chunksOf(path), { source: path, ...options });
}

/** Opens the file when the first chunk is requested. */
async function* chunksOf(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield* createReadStream(path, { highWaterMark: 262_144 }) as AsyncIterable<Uint8Array>;
}
