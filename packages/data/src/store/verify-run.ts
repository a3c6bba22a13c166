import { messageOf, requireArguments } from '@rlp/core';
import { checksumFile, damagedFiles, readChecksums } from './checksums.ts';
import { namesIn, paths, readText, statusOf } from './file-system.ts';
import { nodeHost, type StoreHost } from './host.ts';
import { directoryHolder, type LeaseHolder } from './lease.ts';
import { isCheckpointName, pointerFile } from './numbered-checkpoints.ts';
import { isAbandoned, parseTemporaryName } from './temporary-names.ts';

/** Result of {@link verifyRun}. */
export interface RunVerification {
  /** Directories whose files all fit their `SHA256SUMS`. */
  readonly intact: readonly string[];
  /** One sentence for each damaged, missing or incomplete file. Empty if nothing is broken. */
  readonly problems: readonly string[];
  /** Leftovers of a crash. The next save or load completes or removes them. */
  readonly leftovers: readonly string[];
  /** The process that writes to the directory or to one inside; absent if none does. */
  readonly holder?: LeaseHolder | undefined;
}

/**
 * Compares all saves in a directory and the directories inside with their checksums. Writes nothing.
 *
 * @throws the system's error if the directory cannot be read.
 */
export async function verifyRun(directory: string, host: StoreHost = nodeHost()): Promise<RunVerification> {
  requireArguments('verifyRun', { directory: 'text', host: 'object?' }, directory, host);
  const found = { intact: [] as string[], problems: [] as string[], leftovers: [] as string[] };
  const holders: LeaseHolder[] = [];
  await host.files.readdir(directory);
  await visit(host, directory, found, holders);
  return { ...found, holder: holders[0] };
}

interface Found {
  readonly intact: string[];
  readonly problems: string[];
  readonly leftovers: string[];
}

async function visit(
  host: StoreHost,
  directory: string,
  found: Found,
  holders: LeaseHolder[],
): Promise<void> {
  const { files } = host;
  if ((await statusOf(files, paths().join(directory, checksumFile))) !== undefined) {
    return checkSave(host, directory, found);
  }
  if (isCheckpointName(paths().basename(directory))) {
    found.problems.push(
      `${directory}: ${checksumFile} is missing, so nothing can tell whether its files are damaged; continue from it only if you deleted that file after an edit`,
    );
    return;
  }
  const holder = await directoryHolder(directory, host);
  if (holder !== undefined) holders.push(holder);
  const names = await namesIn(files, directory);
  await checkPointer(host, directory, names, found);
  for (const name of names) {
    const path = paths().join(directory, name);
    const temporary = parseTemporaryName(name);
    if (temporary !== undefined) {
      if (await isAbandoned(host, directory, temporary)) found.leftovers.push(path);
    } else if (!name.startsWith('.') && (await files.lstat(path)).isDirectory()) {
      await visit(host, path, found, holders);
    } else if (/\.jsonl?$/.test(name)) await checkJson(host, path, found);
  }
}

async function checkSave({ files }: StoreHost, directory: string, found: Found): Promise<void> {
  const before = found.problems.length;
  try {
    await readChecksums(files, directory);
    for await (const problem of damagedFiles(files, directory)) found.problems.push(problem);
  } catch (cause) {
    found.problems.push(messageOf(cause));
  }
  if (found.problems.length === before) found.intact.push(directory);
}

async function checkPointer(
  { files }: StoreHost,
  directory: string,
  names: readonly string[],
  found: Found,
): Promise<void> {
  if (!names.includes(pointerFile) || !names.some(isCheckpointName)) return;
  const path = paths().join(directory, pointerFile);
  const target = (await readText(files, path))?.trim() ?? '';
  if (names.includes(target)) return;
  found.problems.push(
    `${path}: names ${JSON.stringify(target)}, which is not there; the next save corrects it`,
  );
}

/** JSON files have to be one value, JSON Lines one value a line. */
async function checkJson({ files }: StoreHost, path: string, found: Found): Promise<void> {
  const text = (await readText(files, path)) ?? '';
  const parts = path.endsWith('l') ? text.split('\n') : [text];
  for (const [index, part] of parts.entries()) {
    if (part.trim() === '' && path.endsWith('l')) continue;
    try {
      JSON.parse(part);
    } catch {
      const line = path.endsWith('l') ? `, line ${index + 1}` : '';
      const remedy =
        line !== '' && index === parts.length - 1 ? 'the next append repairs it' : 'delete or correct it';
      found.problems.push(`${path}${line}: not valid JSON; ${remedy}`);
    }
  }
}
