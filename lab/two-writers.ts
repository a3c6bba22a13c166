import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { closeRun, loadRun, saveRun } from '@rlp/algorithms/run';
import type { CheckpointBackend } from '@rlp/core';
import { DirectoryInUseError, verifyRun, writeDirectory } from '@rlp/data/store';

/** Weights that are all one number, and what a checkpoint needs of a backend. */
function backendOf(weight: number) {
  let loaded = Number.NaN;
  const backend = {
    saveCheckpoint: (directory: string) =>
      writeDirectory(directory, async (temporary) => {
        for (const name of ['weights', 'moments']) {
          await writeFile(join(temporary, name), JSON.stringify(new Array(500).fill(weight)));
        }
      }),
    loadCheckpoint: async (directory: string) => {
      const texts = await Promise.all(
        ['weights', 'moments'].map((name) => readFile(join(directory, name), 'utf8')),
      );
      const numbers = new Set(texts.flatMap((text) => JSON.parse(text) as number[]));
      loaded = numbers.size === 1 ? [...numbers][0]! : Number.NaN;
    },
  } as unknown as CheckpointBackend;
  return { backend, loaded: () => loaded };
}

/** Saves for ever, and gives the directory back after every ten saves. Prints one letter for each attempt. */
async function write(directory: string, id: number): Promise<void> {
  const { backend, loaded } = backendOf(id);
  for (;;) {
    try {
      for (let save = 0; save < 10; save++) {
        const state = await loadRun(directory, backend, 'rl');
        if (state !== undefined && state.taskCursor !== loaded()) process.stdout.write('m');
        const next = { iteration: (state?.iteration ?? 0) + 1, taskCursor: id };
        await saveRun(directory, backend, { kind: 'rl', state: next }, { keep: 3 });
        process.stdout.write('s');
      }
      await closeRun(directory);
    } catch (error) {
      if (!(error instanceof DirectoryInUseError)) throw error;
      process.stdout.write('r');
    }
    await setTimeout(5);
  }
}

/** What two writers did. */
export interface WritersOutcome {
  readonly saves: readonly number[];
  readonly refused: readonly number[];
  readonly kills: number;
  /** Checkpoints that hold the weights of one process and the state of the other. */
  readonly mixed: number;
  /** What `rlp run verify` finds at the end, and errors of the processes. */
  readonly problems: readonly string[];
}

/** Two processes save to one directory until each has saved often enough and one was killed. One is killed now and then. */
export async function twoWriters(
  directory: string,
  { saves, killEveryMs }: { readonly saves: number; readonly killEveryMs: number },
): Promise<WritersOutcome> {
  const counts = { s: [0, 0], r: [0, 0], m: [0, 0] };
  const errors: string[] = [];
  const start = (id: 0 | 1): ChildProcess => {
    // Tests have bundled it, which starts sooner.
    const bundles = process.env.RLP_THREADS;
    const program = bundles
      ? [join(bundles, 'lab/two-writers.js')]
      : ['--conditions=@rlp/source', '--import', import.meta.resolve('tsx'), import.meta.filename];
    const args = [...program, directory, String(id)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (letters: Buffer) => {
      for (const letter of letters.toString() as Iterable<'s' | 'r' | 'm'>) counts[letter][id]! += 1;
    });
    child.stderr.on('data', (text: Buffer) => errors.push(text.toString()));
    return child;
  };
  const children = [start(0), start(1)];
  let kills = 0;
  let sinceKill = performance.now();
  const isDone = () => kills > 0 && counts.s.every((count) => count >= saves);
  while (!isDone() && children.every(({ exitCode }) => exitCode === null)) {
    await setTimeout(20);
    if (performance.now() - sinceKill < killEveryMs) continue;
    sinceKill = performance.now();
    const id = (kills++ % 2) as 0 | 1;
    await ended(children[id]!);
    children[id] = start(id);
  }
  await Promise.all(children.map(ended));
  const { problems } = await verifyRun(directory);
  const mixed = counts.m[0]! + counts.m[1]!;
  return { saves: counts.s, refused: counts.r, kills, mixed, problems: [...problems, ...errors] };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await closed;
}

const [, file, directory, id] = process.argv;
if (file === import.meta.filename && directory !== undefined) await write(directory, Number(id));
