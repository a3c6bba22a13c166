/** JSON Lines, CSV and datasets of rows. Runs anywhere JavaScript does; files are in `@rlp/data/files` and `@rlp/data/datasets`. */
export { cellsOf, columnsOf, type DatasetColumns } from './datasets/columns.ts';
export {
  Dataset,
  type DatasetReading,
  type DatasetRow,
  type DatasetSource,
  type ShuffleOptions,
} from './datasets/dataset.ts';
export {
  type DatasetBatches,
  DatasetEntry,
  type DatasetOrigin,
  type MixturePlace,
} from './datasets/dataset-entry.ts';
export {
  type DatasetFields,
  type DatasetRole,
  datasetFieldsSchema,
  type ResolvedDatasetFields,
} from './datasets/dataset-fields.ts';
export {
  type DatasetOfOptions,
  type DatasetOfTextOptions,
  datasetOf,
  datasetOfText,
} from './datasets/dataset-of.ts';
export { DatasetReader } from './datasets/dataset-reader.ts';
export {
  type Demonstration,
  type DemonstrationsFromOptions,
  demonstrationsFrom,
} from './datasets/demonstrations-from.ts';
export { type MixtureOptions, type MixturePart, mixture } from './datasets/mixture.ts';
export {
  type PreferencePair,
  preferencesFrom,
  type RatedAnswer,
  ratingsFrom,
} from './datasets/preferences-from.ts';
export { plainMessage } from './datasets/row-parts.ts';
export { type TaskColumns, type TasksFromOptions, tasksFrom } from './datasets/tasks-from.ts';
export { type JsonLine, type JsonLinesOptions, parseJsonLines } from './lines/json-lines.ts';
export { type Chunks, type JsonLinesStreamOptions, readJsonLines } from './lines/read-json-lines.ts';
export { toJsonLine } from './lines/to-json-line.ts';
export { type CsvOptions, type CsvRecord, parseCsv } from './tables/parse-csv.ts';
