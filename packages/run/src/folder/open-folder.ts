import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError } from '@rlp/core';
import { holdDirectory, releaseDirectory } from '@rlp/data/store';
import { runFiles } from './run-files.ts';
import { configDifferences, lengthened, type RunRecord, readRunRecord } from './run-record.ts';

/** What a run would lose that is begun again, if there is something in it. */
const saved = ['checkpoints', 'summary.json', 'metrics.jsonl'];

/** Remedy for a folder of another run, on the command line and in a program. */
export const otherFolder =
  "choose another folder with --out (in code `output`), or delete that run with --new (in code `{ existing: 'new' }`)";

/** What is wanted of a folder. */
export interface OpenFolderOptions {
  readonly directory: string;
  readonly config: Record<string, unknown>;
  /** `'new'` deletes an earlier run. `'resume'` continues it, if its configuration is the same. */
  readonly existing: 'resume' | 'new';
}

/**
 * Reads what is in the folder of a run. Changes nothing.
 *
 * @returns The record of an earlier run of the same configuration, or of one that makes fewer iterations. `undefined` if the run begins: in
 *   an empty folder, or in place of a run of another configuration that saved nothing, such as one that failed at its first step.
 * @throws ArgumentError for a run of another configuration or a folder with other files.
 */
export async function readFolder({
  directory,
  config,
  existing,
}: OpenFolderOptions): Promise<RunRecord | undefined> {
  const names = await namesIn(directory);
  if (names.length > 0 && !names.includes('run.json')) {
    throw new ArgumentError(
      `${directory} holds files that are not an earlier run's (${names.slice(0, 3).join(', ')}); choose an empty folder, with --out or as \`output\``,
    );
  }
  const earlier = existing === 'new' ? undefined : await readRunRecord(runFiles(directory).run);
  const differences = earlier === undefined ? [] : configDifferences(earlier, config);
  if (earlier === undefined || differences.length === 0) return earlier;
  if (!(await savedSomething(directory))) return undefined;
  const longer = lengthened(earlier, config);
  if (longer === undefined) {
    throw new ArgumentError(
      `${directory} holds a run of another configuration (${differences.join('; ')}); ${otherFolder}`,
    );
  }
  return longer;
}

/**
 * Takes the folder of a run for this process, and deletes an earlier run if that is wanted.
 *
 * @returns What {@link readFolder} returns.
 * @throws DirectoryInUseError if another process writes there, and what `readFolder` throws.
 */
export async function openFolder(options: OpenFolderOptions): Promise<RunRecord | undefined> {
  const { directory } = options;
  await holdDirectory(directory);
  try {
    // Read once nobody else writes there.
    const earlier = await readFolder(options);
    if (earlier === undefined)
      for (const path of Object.values(runFiles(directory))) await rm(path, { recursive: true, force: true });
    return earlier;
  } catch (error) {
    await releaseDirectory(directory);
    throw error;
  }
}

/** Whether a run would lose something if it began again. An evaluation of the untrained policy can be made again. */
export async function savedSomething(directory: string): Promise<boolean> {
  const evaluations = await readdir(runFiles(directory).evaluations).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (evaluations.some((name) => !name.startsWith('before.'))) return true;
  const found = await Promise.all(saved.map((name) => stat(join(directory, name)).catch(() => undefined)));
  return found.some((entry) => entry !== undefined && (entry.isDirectory() || entry.size > 0));
}

/** Names in a folder without hidden ones. */
async function namesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'ENOTDIR')
      throw new ArgumentError(
        `${directory} is not a folder; choose another one, with --out or as \`output\``,
      );
    throw error;
  });
  return names.filter((name) => !name.startsWith('.'));
}

/** Removes recordings of iterations that an interrupted run makes again. */
export async function dropLater(directory: string, from: number): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  const later = names.filter((name) => Number.parseInt(name, 10) >= from);
  for (const name of later) await rm(join(directory, name), { force: true });
}
