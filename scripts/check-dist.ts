/**
 * Fails when a package's `exports` map and its built files disagree, or when a built entry does not load in plain Node:
 * no source condition, no loader. What runs in a thread is started once from the built files, too.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { conclude, entriesOf, packagesIn } from './workspace.ts';

const entries = packagesIn('packages').flatMap(entriesOf);

const missing = entries.flatMap(({ specifier, source, types, built }) =>
  [source, types, built]
    .filter((path) => !existsSync(path))
    .map((path) => `${specifier}: ${path} is missing`),
);

/** Suites of tests load inside a test runner only. */
const importable = entries
  .map(({ specifier }) => specifier)
  .filter((specifier) => !specifier.endsWith('/testing'));

function runInPlainNode(title: string, code: string): string[] {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  return status === 0 ? [] : [`${title} fails in plain Node:\n${stderr.trimEnd()}`];
}

const importAll = importable.map((specifier) => `await import(${JSON.stringify(specifier)});`).join('\n');

conclude(
  missing.length > 0 ? missing : runInPlainNode('importing the built packages', importAll),
  `${entries.length} entries are built and load in plain Node`,
);
