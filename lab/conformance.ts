/** `pnpm conformance [--dir DIR]`: checks our functions against numbers that reference implementations produced. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { report, runDirectory } from './conformance/run.ts';

const { values } = parseArgs({ options: { dir: { type: 'string' } } });
const root = resolve(import.meta.dirname, '..');
const shared = process.env.RLP_SHARED ?? join(root, '..', 'shared');
const directory = resolve(values.dir ?? join(shared, 'conformance'));

const results = existsSync(directory) ? await runDirectory(directory) : [];
if (results.length > 0) {
  for (const line of report(results)) console.log(line);
  process.exitCode = results.some(({ failures }) => failures.length > 0) ? 1 : 0;
} else {
  console.error(`conformance: no fixture files in ${directory}; pass --dir DIR with some`);
  process.exitCode = 2;
}
