/** Parquet files, by the optional package `hyparquet`. Needs Node. */
export { type ParquetOptions, type ParquetRow, readParquetFile } from './tables/read-parquet-file.ts';
