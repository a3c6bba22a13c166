import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import {
  ArgumentError,
  abortSignal,
  callback,
  FormatError,
  MissingPeerError,
  messageOf,
  parseOptions,
} from '@rlp/core';
import * as z from 'zod';
import { hubSchema } from '../hub/hub-options.ts';
import { hubSnapshot } from '../hub/hub-snapshot.ts';
import { Dataset } from './dataset.ts';
import { datasetFieldsSchema } from './dataset-fields.ts';
import { countFileRows, fileBatches, type RowsFile } from './file-rows.ts';
import { type FolderChoice, filesOfSplit, folderLayout } from './folder-layout.ts';
import { joined } from './joined.ts';
import { slicedRows, splitSlice } from './slices.ts';

const schema = z.strictObject({
  /** Split of a folder, with a slice if you like: `'test'`, `'train[0:500]'`, `'train[:10%]'`. Default `'train'`, or the only split. */
  split: z.string().min(1).optional(),
  /** Configuration of a folder with several, such as `'main'`. Default: the files that are in no configuration, or the only one. */
  config: z.string().min(1).optional(),
  /** Columns with other names than those recognised. Default `{}`. */
  fields: datasetFieldsSchema.prefault({}),
  /** `'skip'` leaves out a last line of JSON Lines that a crash cut short. Default `'throw'`. */
  tornLine: z.enum(['throw', 'skip']).default('throw'),
  /**
   * Receives the error of each row that cannot be read, which is left out and does not count for slices, cursors and `count`. Each reading reports
   * from the start of the file. Broken lists and tables are errors as ever. Default: the first error is thrown.
   */
  onMalformed: callback<(error: FormatError) => void>().optional(),
  /** How a dataset of the Hugging Face hub is fetched. Default `{}`. */
  hub: hubSchema.prefault({}),
  /** Ends a download with its reason. Default: no signal. */
  signal: abortSignal.optional(),
});

/** Options of {@link loadDataset}. */
export interface LoadDatasetOptions extends z.input<typeof schema> {}

/**
 * Opens a dataset: a file, several files, a folder as Hugging Face lays it out, or a dataset of its hub.
 *
 *     const dataset = await loadDataset('train.jsonl[0:500]', { fields: { prompt: 'query' } });
 *     const test = await loadDataset('openai/gsm8k', { config: 'main', split: 'test' });
 *
 * Reads JSON Lines, JSON lists, CSV, Parquet and plain text, also compressed by gzip. The format is recognised by the first bytes and
 * the ending of the name. Rows are read when you iterate. A slice may follow the name of a file or of a split. A name that is neither
 * a file nor a folder is looked up on the hub, which needs `@huggingface/hub`. The files of the split are kept in Hugging Face's cache.
 *
 * @throws ArgumentError if there is no such file.
 * @throws FormatError if a folder has no such split. Malformed rows throw it when they are read, with file and line.
 */
export async function loadDataset(
  source: string | readonly string[],
  options: LoadDatasetOptions = {},
): Promise<Dataset> {
  const resolved = parseOptions('loadDataset', schema, options, 'LoadDatasetOptions');
  const sources = typeof source === 'string' ? [source] : source;
  if (!Array.isArray(sources) || sources.some((each) => typeof each !== 'string'))
    throw new ArgumentError(
      `loadDataset: expected the path of a file or folder, a name of the hub, or a list of them, got ${source === undefined ? 'nothing' : typeof source}; datasetOf takes rows`,
    );
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
  const { name: split, slice: splitPart } = splitSlice(options.split ?? '');
  if (kind === 'file' && split !== '') {
    throw new ArgumentError(
      `loadDataset: ${name} is a file and has no splits; leave out split: '${split}', or pass its folder`,
    );
  }
  const choice = { config: options.config, split: split || undefined };
  const { fields, tornLine, onMalformed } = options;
  const files =
    kind === 'file' ? [name] : await (kind === 'folder' ? filesOfFolder : filesOfHub)(name, choice, options);
  const dataset = joined(
    name,
    files.map((path) => fileDataset({ path, fields, tornLine, onMalformed })),
  );
  const chosen = slice ?? splitPart;
  return chosen === undefined ? dataset : slicedRows(dataset, chosen);
}

function fileDataset(file: RowsFile): Dataset {
  return new Dataset({
    name: file.path,
    open: (skip) => fileBatches(file, skip),
    ...(file.onMalformed === undefined && { count: () => countFileRows(file) }),
  });
}

const fileEnding = /\.(jsonl|ndjson|json|csv|tsv|parquet|txt|gz|zst)$/i;
const hubPrefix = /^(hf:\/\/datasets\/|https:\/\/huggingface\.co\/datasets\/)/;

async function filesOfHub(
  source: string,
  choice: FolderChoice,
  { hub, signal }: Resolved,
): Promise<readonly string[]> {
  const name = source.replace(hubPrefix, '');
  const isNamed = name !== source;
  if (!isNamed && (fileEnding.test(name) || !/^[\w-][\w.-]*\/[\w.-]+$/.test(name))) throw await missing(name);
  const choose = (paths: readonly string[]) => filesOfSplit(folderLayout(paths), choice, name);
  try {
    const { directory, paths } = await hubSnapshot({ type: 'dataset', name }, hub, { choose, signal });
    return paths.map((path) => join(directory, path));
  } catch (error) {
    const Failure = [ArgumentError, FormatError, MissingPeerError].find((kind) => error instanceof kind);
    if (isNamed || Failure === undefined) throw error;
    const beside = await fileBeside(name);
    const hint = beside === undefined ? '' : ` (${beside} is there: pass it with its ending)`;
    throw new Failure(
      `loadDataset: no file or folder ${name} was found here${hint}, and ${messageOf(error)}`,
      { cause: error },
    );
  }
}

async function filesOfFolder(folder: string, choice: FolderChoice): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
  return filesOfSplit(folderLayout(paths), choice, folder).map((path) => join(folder, path));
}

async function kindOfPath(path: string): Promise<'file' | 'folder' | 'none'> {
  try {
    const entry = await stat(path);
    if (entry.isDirectory()) return 'folder';
    if (entry.isFile()) return 'file';
    throw new ArgumentError(
      `loadDataset: expected a file or a folder, but ${path} is a pipe or a device, which cannot be read twice; save its content to a file`,
    );
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'none';
    throw error;
  }
}

/** A file that has this name with an ending of rows. */
async function fileBeside(path: string): Promise<string | undefined> {
  const names = await readdir(dirname(path)).catch(() => []);
  const found = names.find((name) => name.startsWith(`${basename(path)}.`) && fileEnding.test(name));
  return found && join(dirname(path), found);
}

async function missing(name: string): Promise<ArgumentError> {
  const beside = await fileBeside(name);
  const remedy = /\[.*\]$/.test(name)
    ? 'correct the path, or write the slice as in rows.jsonl[0:500]'
    : beside === undefined
      ? 'correct the path'
      : `pass ${beside}, which is there`;
  return new ArgumentError(
    `loadDataset: expected a file, a folder or a name of the hub such as openai/gsm8k, but ${name} does not exist in ${process.cwd()}; ${remedy}`,
  );
}
