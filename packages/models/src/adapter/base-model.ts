import { FormatError, requireArguments } from '@rlp/core';
import { hubNameOf } from '../hub/hub-name.ts';
import { fs, nodePath } from '../node-files.ts';

/** Bytes of each end of a weights file that are compared. */
const comparedBytes = 65_536;

/** Bases that a warning has named. */
const warned = new Set<string>();

/**
 * Compares the base model that an adapter names with the model that it is to correct. Names without a local folder, and folders with
 * other file names or sizes, cannot be told apart: a process warning names them once if their last parts differ.
 *
 * @param baseModel - `base_model_name_or_path` of the adapter. `undefined` if it names none.
 * @param folder - Folder that the model was loaded from. `undefined` for a model that was made in memory.
 * @param warn - Takes the warning. Default: a process warning, once for each base.
 * @throws FormatError if both are local folders and their weights differ.
 */
export async function checkBaseModel(
  baseModel: string | undefined,
  folder: string | undefined,
  warn: (sentence: string) => void = warnOnce,
): Promise<void> {
  requireArguments('checkBaseModel', { baseModel: 'text?', folder: 'text?' }, baseModel, folder);
  if (baseModel === undefined || folder === undefined) return;
  const [base, own] = await Promise.all([realPath(baseModel), realPath(folder)]);
  if (nameOf(base) === nameOf(own)) return;
  const difference = `the adapter corrects "${baseModel}", but the model is "${folder}"`;
  const remedy =
    'load the base model of the adapter, or correct base_model_name_or_path in its adapter_config.json';
  if (await haveOtherWeights(base, own))
    throw new FormatError(`${difference}, whose weights differ; ${remedy}`);
  if (lastPart(nameOf(base)) !== lastPart(nameOf(own)))
    warn(`${difference}; if these are not the same weights, ${remedy}`);
}

function warnOnce(sentence: string): void {
  if (warned.has(sentence)) return;
  warned.add(sentence);
  process.emitWarning(sentence, { type: 'RlpWarning', code: 'RLP_BASE_MODEL' });
}

async function realPath(path: string): Promise<string> {
  return fs()
    .realpath(path)
    .catch(() => path);
}

/** Folders in the cache of the hub are called by the model's name. */
const nameOf = (path: string) => hubNameOf(path) ?? path;

function lastPart(path: string): string {
  return path.toLowerCase().split(/[/\\]/).findLast(Boolean) ?? '';
}

/** Whether two folders have weights files of equal names and sizes and of other contents. */
async function haveOtherWeights(one: string, other: string): Promise<boolean> {
  const [ours, theirs] = await Promise.all([weightFiles(one), weightFiles(other)]);
  if (ours.length === 0 || ours.join() !== theirs.join()) return false;
  for (const name of ours) {
    const ends = await Promise.all([
      endsOf(nodePath().join(one, name)),
      endsOf(nodePath().join(other, name)),
    ]);
    if (ends[0].size === ends[1].size && !ends[0].bytes.equals(ends[1].bytes)) return true;
  }
  return false;
}

async function weightFiles(folder: string): Promise<string[]> {
  const names = await fs()
    .readdir(folder)
    .catch(() => []);
  return names.filter((name) => name.endsWith('.safetensors')).sort();
}

async function endsOf(path: string): Promise<{ readonly size: number; readonly bytes: Buffer }> {
  const file = await fs().open(path);
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(2 * comparedBytes);
    await file.read(bytes, 0, comparedBytes, 0);
    await file.read(bytes, comparedBytes, comparedBytes, Math.max(0, size - comparedBytes));
    return { size, bytes };
  } finally {
    await file.close();
  }
}
