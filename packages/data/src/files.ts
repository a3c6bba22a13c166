/** Files of JSON Lines: streamed reading, appending that survives a crash, rotation. Needs Node. */
export { AppendFile, type AppendFileOptions } from './files/append-file.ts';
export { readJsonLinesFile } from './files/read-json-lines-file.ts';
export { readRotated } from './files/read-rotated.ts';
