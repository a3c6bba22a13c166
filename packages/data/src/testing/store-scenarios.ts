import { FormatError } from '@rlp/core';
import { verifyDirectory } from '../store/checksums.ts';
import { readText, writeFully } from '../store/file-system.ts';
import type { StoreHost } from '../store/host.ts';
import {
  continueNumbered,
  newestNumbered,
  numberedCheckpoints,
  saveNumbered,
} from '../store/numbered-checkpoints.ts';
import { recoverDirectory, writeDirectory } from '../store/write-directory.ts';
import type { CrashScenario } from './crash-table.ts';

/** Writes a file as backends do, which flush nothing. */
async function put({ files }: StoreHost, path: string, text: string): Promise<void> {
  const file = await files.open(path, 'wx');
  await writeFully(file, new TextEncoder().encode(text));
  await file.close();
}

/** Three files that name their version, one of them in a directory that is complete in itself. */
async function fill(host: StoreHost, directory: string, version: number): Promise<void> {
  await writeDirectory(
    `${directory}/backend`,
    async (inner) => {
      await put(host, `${inner}/weights`, `${version}`.repeat(8));
      await put(host, `${inner}/moments`, `${version}`.repeat(8));
    },
    host,
  );
  await put(host, `${directory}/state`, `${version}`);
}

async function versionIn(host: StoreHost, directory: string): Promise<number> {
  await verifyDirectory(directory, {}, host);
  const read = async (name: string) => Number((await readText(host.files, `${directory}/${name}`))?.[0]);
  const versions = [await read('state'), await read('backend/weights'), await read('backend/moments')];
  if (new Set(versions).size > 1) throw new FormatError(`versions ${versions} are mixed`);
  return versions[0]!;
}

const numbered = (name: string, keep: number, numberOf: (version: number) => number) => ({
  name,
  resume: (host: StoreHost) => continueNumbered('/runs/a', host),
  save: async (host: StoreHost, version: number) => {
    const write = (directory: string) => fill(host, directory, version);
    await saveNumbered('/runs/a', { number: numberOf(version), keep }, write, host);
  },
  load: async (host: StoreHost) => {
    for (const name of await numberedCheckpoints('/runs/a', host)) await versionIn(host, `/runs/a/${name}`);
    const newest = await newestNumbered('/runs/a', host);
    return newest === undefined ? undefined : versionIn(host, newest);
  },
});

/** Sequences of saves that the store of `@rlp/data/store` has to survive. */
export const storeScenarios: readonly CrashScenario[] = [
  { ...numbered('first save', 2, (version) => version), saves: 1 },
  { ...numbered('another save of one number, keep 1', 1, () => 25), before: 1, saves: 1 },
  { ...numbered('resumed, keep 1', 1, (version) => version), before: 1, saves: 2 },
  { ...numbered('resumed, keep 2', 2, (version) => version), before: 2, saves: 1 },
  {
    name: 'a directory over an earlier one',
    before: 1,
    saves: 1,
    save: (host, version) => writeDirectory('/models/a', (directory) => fill(host, directory, version), host),
    load: async (host) => {
      await recoverDirectory('/models/a', host);
      return host.files.lstat('/models/a').then(
        () => versionIn(host, '/models/a'),
        () => undefined,
      );
    },
  },
];
