import { FormatError } from '@rlp/core';

/** Files of rows by configuration and split. */
export type FolderLayout = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** Words for the usual splits, as Hugging Face's data sets have them in names of files and folders. */
const splitWords: readonly (readonly [string, RegExp])[] = [
  ['train', /^(train|training)$/i],
  ['validation', /^(validation|valid|val|dev)$/i],
  ['test', /^(test|testing|eval|evaluation)$/i],
];

/** Files that describe a data set. */
const notRows =
  /^(dataset_infos?|dataset_dict|state|package|package-lock|config|metadata|requirements)\.\w+$/i;

const rowsName = /^(.*?)\.(jsonl|ndjson|json|csv|tsv|parquet|txt)(\.gz|\.zst)?$/i;

/**
 * Sorts the files of a folder or of a hub's data set into configurations and splits.
 *
 * The split is a word of the file's name or of a folder's (`train.jsonl`, `data/test-00000-of-00002.parquet`, `dev/part1.csv`), or what
 * precedes the number of a part (`data/extra-00000-of-00001.parquet`). If no file names a split, all are `train`. If some do, the others
 * are left out. The configuration is the first folder, unless it is `data` or names a split. Without such a folder it is `default`.
 *
 * @param paths - Relative to the folder, with `/`.
 */
export function folderLayout(paths: readonly string[]): FolderLayout {
  const layout = new Map<string, Map<string, string[]>>();
  for (const path of [...paths].sort()) {
    const parts = path.split('/');
    const [, stem] = rowsName.exec(parts.at(-1)!) ?? [];
    if (stem === undefined || notRows.test(parts.at(-1)!) || parts.some(isHidden)) continue;
    const folders = parts.slice(0, -1);
    const isConfiguration =
      folders[0] !== undefined && folders[0] !== 'data' && splitIn(folders[0]) === undefined;
    const configuration = isConfiguration ? folders[0]! : 'default';
    const split = splitOf(stem, isConfiguration ? folders.slice(1) : folders);
    const splits = layout.get(configuration) ?? new Map<string, string[]>();
    layout.set(configuration, splits.set(split, [...(splits.get(split) ?? []), path]));
  }
  for (const splits of layout.values()) {
    const unnamed = splits.get(noSplit);
    splits.delete(noSplit);
    if (unnamed !== undefined && splits.size === 0) splits.set('train', unnamed);
  }
  return layout;
}

/** Key of files whose names say no split. */
const noSplit = '';

const isHidden = (part: string) => /^[._]/.test(part);

function splitOf(stem: string, folders: readonly string[]): string {
  const part = /^(.+)-\d{5}-of-\d{5}$/.exec(stem)?.[1];
  return splitIn(stem) ?? folders.map(splitIn).find((split) => split !== undefined) ?? part ?? noSplit;
}

/** The usual split that a name has a word of. */
function splitIn(name: string): string | undefined {
  const words = name.split(/[-_. 0-9]+/);
  return splitWords.find(([, word]) => words.some((each) => word.test(each)))?.[0];
}

/** What to read of a folder. */
export interface FolderChoice {
  readonly config?: string | undefined;
  readonly split?: string | undefined;
}

/** The files of a split. `source` is the folder's name in errors. */
export function filesOfSplit(
  layout: FolderLayout,
  { config, split }: FolderChoice,
  source: string,
): readonly string[] {
  const configurations = [...layout.keys()];
  if (configurations.length === 0) {
    throw new FormatError(
      `${source}: expected files of rows (.jsonl, .json, .csv, .tsv, .txt or .parquet, also with .gz), got none; save the data as one of them`,
    );
  }
  const chosen =
    config ?? (configurations.length === 1 || layout.has('default') ? defaultOf(layout) : undefined);
  const splits = chosen === undefined ? undefined : layout.get(chosen);
  if (splits === undefined) {
    const got = config === undefined ? 'none was named' : `got ${JSON.stringify(config)}`;
    throw new FormatError(
      `${source}: expected one of the configurations ${configurations.join(', ')}, ${got}; pass config: '${configurations[0]}'`,
    );
  }
  const names = [...splits.keys()];
  const files = splits.get(split ?? (names.length === 1 ? names[0]! : 'train'));
  if (files !== undefined) return files;
  const got = split === undefined ? 'none was named' : `got ${JSON.stringify(split)}`;
  throw new FormatError(
    `${source}: expected one of the splits ${names.join(', ')}, ${got}; pass split: '${names[0]}'`,
  );
}

function defaultOf(layout: FolderLayout): string {
  return layout.has('default') ? 'default' : [...layout.keys()][0]!;
}
