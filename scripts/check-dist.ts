/**
 * Fails when a package's `exports` map and its built files disagree, or when a built entry does not load in plain Node
 * without source condition and loader. Threads are started once from the built files, too,
 * and a run is trained from a file.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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

/** Runs code in a process, with these flags of Node. */
function runInPlainNode(name: string, code: string, flags: readonly string[] = []): string[] {
  const { status, stderr } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', code], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  return status === 0 ? [] : [`${name} fails in plain Node:\n${stderr.trimEnd()}`];
}

const importAll = importable.map((specifier) => `await import(${JSON.stringify(specifier)});`).join('\n');

/** Threads must start with the flags that a process may have: those of V8, and `--input-type`. */
const useThreads = `
import { createEngine } from '@rlp/onnx/runtime';
import { createRewardWorkers } from '@rlp/rewards/workers';
import { createSandbox } from '@rlp/sandbox';
const engine = await createEngine({ thread: 'worker', threads: 1 });
await engine.createStore({ name: 'policy', parameters: [{ name: 'w', shape: [2] }] });
await engine.writeStore('policy', new Map([['w', { shape: [2], data: Float32Array.of(1, 2) }]]));
const { data } = (await engine.readStore('policy')).get('w');
await engine.close();
if (data.join() !== '1,2') throw new Error('the engine read back ' + data.join());
const module = new URL('data:text/javascript,export const length = ({ response }) => response.length');
const workers = await createRewardWorkers({ module, export: 'length', workers: 1 });
await workers.close();
const sandbox = createSandbox();
const sum = await sandbox.call('(a, b) => a + b', [1, 2]);
await sandbox.close();
if (sum.value !== 3) throw new Error('the sandbox answered ' + JSON.stringify(sum));
`;

/** Chunks that are imported for nothing. Bundlers of users warn of each. */
const bareImports = entries
  .map(({ built }) => built)
  .filter((path) => existsSync(path) && /^import "\.\/chunk-/m.test(readFileSync(path, 'utf8')))
  .map((path) => `${path} imports a chunk without a name; tsup.config.ts should leave it out`);

/** Classes of errors that a bundler renamed. Stacks show the name of the class. */
const renamedErrors = packagesIn('packages').flatMap(({ directory }) =>
  readdirSync(join(directory, 'dist'))
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => {
      const renamed = /= class (_\w*Error) /.exec(readFileSync(join(directory, 'dist', file), 'utf8'));
      return renamed === null
        ? []
        : [`${directory}/dist/${file} renames ${renamed[1]}; do not name the class within itself`];
    }),
);

/** A run from a file is the longest way through the built packages. */
const config = `{ "model": { "create": { "tokenizer": { "characters": "0123456789+=" }, "layers": 1, "hiddenSize": 8, "heads": 1,
  "contextLength": 16 } }, "data": "rows.jsonl", "sft": { "updates": 1 },
  "algorithm": { "iterations": 1, "tasksPerIteration": 1, "rollout": { "groupSize": 2, "sampling": { "maxTokens": 2 } } },
  "evaluation": { "heldOut": 1 } }`;

/** Trains from a file by the built command, then evaluates what it trained. */
function trainByCommand(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'rlp-dist-'));
  writeFileSync(join(folder, 'run.json'), config);
  const rows = [1, 2, 3, 4].map((n) => JSON.stringify({ question: `${n}+1=`, answer: String(n + 1) }));
  writeFileSync(join(folder, 'rows.jsonl'), rows.join('\n'));
  const command = resolve('packages/cli/bin/rlp.mjs');
  const calls = ['train run.json --out run', 'eval run rows.jsonl', 'view run/trajectories --out view.html'];
  const problems = calls.flatMap((call) => {
    const args = [command, ...call.split(' ')];
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
      timeout: 60_000,
    });
    return status === 0 ? [] : [`rlp ${call} fails in plain Node:\n${stderr.trimEnd()}`];
  });
  rmSync(folder, { recursive: true });
  return problems;
}

const problems =
  missing.length > 0
    ? missing
    : [
        ...runInPlainNode('to import every entry', importAll),
        ...runInPlainNode('to start threads', useThreads, ['--max-old-space-size=1024']),
        ...bareImports,
        ...renamedErrors,
        ...trainByCommand(),
      ];

conclude(
  problems,
  `${entries.length} entries are built and load in plain Node, threads start, a file trains`,
);
