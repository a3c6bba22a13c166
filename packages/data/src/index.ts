/** JSON Lines and CSV as text and as streams. Runs anywhere JavaScript does; files are in `@rlp/data/files`. */
export { type JsonLine, type JsonLinesOptions, parseJsonLines } from './lines/json-lines.ts';
export { type Chunks, type JsonLinesStreamOptions, readJsonLines } from './lines/read-json-lines.ts';
export { toJsonLine } from './lines/to-json-line.ts';
export { type CsvOptions, type CsvRecord, parseCsv } from './tables/parse-csv.ts';
