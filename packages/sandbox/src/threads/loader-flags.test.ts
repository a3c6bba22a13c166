import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { loaderFlags, tsxRegister } from './loader-flags.ts';

it.each([
  [[], []],
  [
    ['--require', '/a/preflight.cjs', '--import', 'file:///a/loader.mjs'],
    ['--require', '/a/preflight.cjs', '--import', 'file:///a/loader.mjs'],
  ],
  [
    ['--import=tsx', '--inspect=9229', '-r', './a.cjs', '--input-type=module', '-e', 'code'],
    ['--import=tsx', '-r', './a.cjs'],
  ],
  [
    ['--max-old-space-size=99', '--experimental-strip-types', '-C', 'own', '--importance=3'],
    ['--experimental-strip-types', '-C', 'own'],
  ],
])('keeps what loads modules: %j', (flags, kept) => {
  expect(loaderFlags(flags)).toEqual(kept);
});

it.runIf(!Reflect.get(process.features, 'typescript')).each([
  [['--import', 'tsx'], 'tsx/esm/api'],
  [['--import=tsx/esm'], 'tsx/esm/api'],
  [['--import', 'file:///a/tsx/dist/loader.mjs'], 'file:///a/tsx/dist/esm/api/index.mjs'],
  [['--import', './own.mjs'], undefined],
])('finds how a thread registers tsx: %j', (flags, module) => {
  expect(tsxRegister(flags)).toBe(module);
});

it.each([['thread'], ['process']])(
  'loads a module of TypeScript in a %s if the program is started with tsx',
  (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'rlp-loader-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const fileOf = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return pathToFileURL(join(folder, name)).href;
    };
    const data = { module: fileOf('module.ts', 'export const said: string = "loaded";') };
    const program = fileOf(
      'program.mjs',
      `import { parentPort, workerData } from 'node:worker_threads';
    const { said } = await import((workerData ?? JSON.parse(process.env.RLP_WORKER_DATA)).module);
    const message = { kind: 'ready', ready: said };
    if (parentPort === null) process.send(message);
    else parentPort.postMessage(message);`,
    );
    const settings = `{ program: new URL('${program}'), data: ${JSON.stringify(data)}, name: 'test', startMs: 30_000, kind: '${kind}' }`;
    const text = `import { ThreadPool } from '@rlp/sandbox/threads';
    const pool = new ThreadPool(${settings}, 1);
    console.log(await pool.open());
    await pool.close();`;
    const flags = ['--conditions=@rlp/source', '--import', 'tsx', '--input-type=module', '-e', text];
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const { stdout, stderr } = spawnSync(process.execPath, flags, { cwd, encoding: 'utf8' });
    expect([stdout.trim(), stderr]).toEqual(['loaded', '']);
  },
  60_000,
);
