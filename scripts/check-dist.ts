/**
 * Fails when a package's `exports` map and its built files disagree, or when a built entry does not load in plain Node:
 * no source condition, no loader. What runs in a thread is started once from the built files, too.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
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

function runInPlainNode(name: string, code: string): string[] {
  const path = `runs/check/${name}.mjs`;
  writeFileSync(path, code);
  const { status, stderr } = spawnSync(process.execPath, [path], { encoding: 'utf8', timeout: 60_000 });
  return status === 0 ? [] : [`${path} fails in plain Node:\n${stderr.trimEnd()}`];
}

const importAll = importable.map((specifier) => `await import(${JSON.stringify(specifier)});`).join('\n');

const useEngine = `
import { createEngine } from '@rlp/onnx/runtime';
const engine = await createEngine({ thread: 'worker', threads: 1 });
await engine.createStore({ name: 'policy', parameters: [{ name: 'w', shape: [2] }] });
await engine.writeStore('policy', new Map([['w', { shape: [2], data: Float32Array.of(1, 2) }]]));
const { data } = (await engine.readStore('policy')).get('w');
await engine.close();
if (data.join() !== '1,2') throw new Error('the engine read back ' + data.join());
`;

mkdirSync('runs/check', { recursive: true });
const problems =
  missing.length > 0
    ? missing
    : [...runInPlainNode('import-all', importAll), ...runInPlainNode('use-engine', useEngine)];

conclude(
  problems,
  `${entries.length} entries are built and load in plain Node, the engine starts in its thread`,
);
