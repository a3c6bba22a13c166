/** Calls that fit, written to a file, so that a test need not read types. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { ExampleCall } from './examples.ts';
import { type Callee, type Makers, sweep } from './sweep.ts';

const file = new URL('./calls.tsv', import.meta.url);

/** Packages whose functions answer at once and write no files. */
export const recordedFolders = ['algorithms', 'answers', 'core', 'env', 'rollout', 'tensor', 'tracking'];

/** Longer examples, and slower sweeps in milliseconds, are left out. */
const most = { letters: 500, ms: 120 };

/** Writes the examples of these packages. What is long, slow, writes files or throws later has `-` in place of an example. */
export async function record(callees: ReadonlyMap<string, readonly Callee[]>, made: Makers): Promise<void> {
  const lines: string[] = [];
  for (const [folder, found] of callees) {
    for (const callee of found) {
      const { name, example } = callee;
      const start = performance.now();
      await sweep(callee, made);
      const isLeft = example.text.length > most.letters || performance.now() - start > most.ms;
      const isLater =
        /^(JsonlLogger|TensorBoardLogger|MlflowLogger|folderStore|append|save|load|serve|settleWithin|nextTurn|inNextTurn|pause|startDeadline)/.test(
          name,
        );
      lines.push(
        [folder, name, ...(isLeft || isLater ? ['-'] : [example.text, example.optional.join(' ')])].join(
          '\t',
        ),
      );
    }
  }
  writeFileSync(file, `${lines.sort().join('\n')}\n`);
}

/** Recorded examples by package and name; `undefined` for what was left out. */
export function recorded(): ReadonlyMap<string, ExampleCall | undefined> {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return new Map(
    lines.map((line) => {
      const [folder, name, text = '-', optional = ''] = line.split('\t');
      const example = text === '-' ? undefined : { text, optional: optional.split(' ').filter(Boolean) };
      return [`${folder} ${name}`, example];
    }),
  );
}
