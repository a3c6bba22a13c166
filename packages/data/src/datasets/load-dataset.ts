import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ArgumentError, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { Dataset } from './dataset.ts';
import { type DatasetFields, datasetFieldsSchema } from './dataset-fields.ts';
import { countFileRows, fileBatches } from './file-rows.ts';
import { filesOfSplit, folderLayout } from './folder-layout.ts';
import { joined } from './joined.ts';
import { slicedRows, splitSlice } from './slices.ts';

const schema = z.strictObject({
  /** Split of a folder, with a slice if you like: `'test'`, `'train[0:500]'`, `'train[:10%]'`. Default `'train'`, or the only split. */
  split: z.string().min(1).optional(),
  /** Configuration of a folder with several, such as `'main'`. Default: the files that are in no configuration, or the only one. */
  config: z.string().min(1).optional(),
  /** Columns with other names than those recognised. Default `{}`. */
  fields: datasetFieldsSchema.prefault({}),
});

/** Options of {@link loadDataset}. */
export interface LoadDatasetOptions extends z.input<typeof schema> {}

/**
 * Opens a dataset: a file, several files, or a folder as Hugging Face lays it out.
 *
 *     const dataset = await loadDataset('train.jsonl[0:500]', { fields: { prompt: 'query' } });
 *
 * Reads JSON Lines, JSON lists, CSV, Parquet and plain text, also compressed by gzip. The format is recognised by the first bytes and
 * the ending of the name. Rows are read when you iterate. A slice may follow the name of a file or of a split.
 *
 * @throws `ArgumentError` if there is no such file.
 * @throws `FormatError` if a folder has no such split. Malformed rows throw it when they are read, with file and line.
 */
export async function loadDataset(
  source: string | readonly string[],
  options: LoadDatasetOptions = {},
): Promise<Dataset> {
  const resolved = parseOptions('loadDataset', schema, options, 'LoadDatasetOptions');
  const sources = typeof source === 'string' ? [source] : source;
  if (sources.length === 0) throw new ArgumentError('loadDataset: expected at least one file, got none');
  const parts: Dataset[] = [];
  for (const each of sources) parts.push(await opened(each, resolved));
  return joined(`${parts[0]!.name} and ${parts.length - 1} more`, parts);
}

type Resolved = z.output<typeof schema>;

async function opened(source: string, options: Resolved): Promise<Dataset> {
  const whole = await kindOfPath(source);
  const { name, slice } = whole === 'none' ? splitSlice(source) : { name: source };
  const kind = whole === 'none' && slice !== undefined ? await kindOfPath(name) : whole;
  if (kind === 'none') throw missing(name);
  const { name: split, slice: splitPart } = splitSlice(options.split ?? '');
  if (kind === 'file' && split !== '') {
    throw new ArgumentError(
      `loadDataset: ${name} is a file and has no splits; leave out split: '${split}', or pass its folder`,
    );
  }
  const files =
    kind === 'file'
      ? [name]
      : await filesOfFolder(name, { config: options.config, split: split || undefined });
  const dataset = joined(
    name,
    files.map((path) => fileDataset(path, options.fields)),
  );
  const chosen = slice ?? splitPart;
  return chosen === undefined ? dataset : slicedRows(dataset, chosen);
}

function fileDataset(path: string, fields: DatasetFields): Dataset {
  const file = { path, fields };
  return new Dataset({
    name: path,
    open: (skip) => fileBatches(file, skip),
    count: () => countFileRows(file),
  });
}

async function filesOfFolder(
  folder: string,
  choice: { readonly config?: string | undefined; readonly split?: string | undefined },
): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
  return filesOfSplit(folderLayout(paths), choice, folder).map((path) => join(folder, path));
}

async function kindOfPath(path: string): Promise<'file' | 'folder' | 'none'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'none';
    throw error;
  }
}

function missing(name: string): ArgumentError {
  return new ArgumentError(
    `loadDataset: expected a file or a folder, but ${name} does not exist in ${process.cwd()}; correct the path`,
  );
}
