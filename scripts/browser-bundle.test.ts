import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { flatMetrics, RewardQualityAssessor } from '@rlp/quality-monitor';
import { build, type Metafile } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { entriesOf, packagesIn } from './workspace.ts';

/** Entries of `@rlp/rewards` that need Node. All others promise to run anywhere. */
const ofNode = ['@rlp/rewards/serve', '@rlp/rewards/workers'];

const entries = new Map(
  packagesIn('packages')
    .flatMap(entriesOf)
    .map(({ specifier, source }) => [specifier, source]),
);

/** Source of an entry, relative to the repository. */
function sourceOf(specifier: string): string {
  const source = entries.get(specifier);
  if (source === undefined) throw new Error(`${specifier} is not an entry of a package`);
  return source;
}

/** Entries that promise to run anywhere JavaScript does. */
const isomorphic = [
  ...[
    '@rlp/core',
    '@rlp/tensor',
    '@rlp/data',
    '@rlp/answers',
    '@rlp/answers/text',
    '@rlp/env',
    '@rlp/env/stock',
    '@rlp/env/reasoning',
    '@rlp/rollout',
    '@rlp/backprop/tabular',
  ],
  ...['', '/advantage', '/loss', '/presets', '/statistics'].map((subpath) => `@rlp/algorithms${subpath}`),
  ...[
    '@rlp/onnx',
    '@rlp/onnx/ops',
    '@rlp/onnx/layers',
    '@rlp/onnx/web',
    '@rlp/inference',
    '@rlp/backprop',
    '@rlp/models',
    '@rlp/page',
    '@rlp/quality-monitor',
    '@rlp/quality-monitor/page',
  ],
  ...[...entries.keys()].filter(
    (specifier) => specifier.startsWith('@rlp/rewards') && !ofNode.includes(specifier),
  ),
];

/** Those that load nothing an application has to bring. */
const runnable = [
  '@rlp/core',
  '@rlp/answers',
  '@rlp/env',
  '@rlp/algorithms',
  '@rlp/models',
  '@rlp/page',
  '@rlp/quality-monitor',
  '@rlp/rewards',
];

const batch = {
  responses: ['<reasoning>two and two are four, as counting shows</reasoning><answer>4</answer>', 'no tags'],
  rewards: { accuracy: [1, 0] },
};

/** Optional peers that are not installed here: the bundler looks for them under other names. */
const peers = ['onnxruntime-web', 'eld', 'obscenity'];

/** How esbuild names helpers of its own. */
const bundlerRuntime = '<runtime>';

const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
const hasBrowser = existsSync(chromium);
if (!hasBrowser) console.warn(`skipped: no browser at ${chromium}`);

/** Bundles a program without any configuration, runs it in a page, and returns the title that it gave the page. */
async function titleOfPage(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: process.cwd(), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['@rlp/source', 'browser', 'import'],
    logLevel: 'silent',
  });
  const directory = mkdtempSync(join(tmpdir(), 'browser-'));
  const page = join(directory, 'page.html');
  const script = Buffer.from(outputFiles[0]!.contents).toString('base64');
  const source = `data:text/javascript;charset=utf-8;base64,${script}`;
  writeFileSync(page, `<!doctype html><meta charset="utf-8"><script type="module" src="${source}"></script>`);
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${directory}/profile`];
  // The page's clock stands still while it computes, so this waits for programs that await.
  const { stdout } = await promisify(execFile)(
    chromium,
    [...flags, '--virtual-time-budget=10000', '--dump-dom', `file://${page}`],
    { maxBuffer: 64 * 2 ** 20 },
  );
  rmSync(directory, { recursive: true, force: true });
  return (/<title>(.*)<\/title>/.exec(stdout)?.[1] ?? '').replaceAll('&quot;', '"');
}

/** The program under "A complete program" of the README. */
function firstProgram(): string {
  const program = /## A complete program.*?```ts run\n(.*?)```/s.exec(readFileSync('README.md', 'utf8'))?.[1];
  if (program === undefined) throw new Error('README.md has no program under "A complete program"');
  return program;
}

describe('the first program of the README', () => {
  it.skipIf(!hasBrowser)('learns in a browser', { timeout: 120_000 }, async () => {
    const shown = 'console.log = (...values) => { document.title = JSON.stringify(values); };';
    const program = firstProgram();
    const imports = program.match(/^import .*$/gm)!.join('\n');
    const rest = program.replaceAll(/^import .*$/gm, '');
    const [before, after] = JSON.parse(await titleOfPage(`${imports}\n${shown}\n${rest}`));
    expect(before).toBeLessThan(0.3);
    expect(after).toBeGreaterThan(0.9);
  });
});

describe('the isomorphic entries', () => {
  it.skipIf(!hasBrowser)('work in a browser as they do here', { timeout: 60_000 }, async () => {
    const lines = runnable.map((specifier, at) => `import * as entry${at} from '${specifier}';`);
    const contents = `${lines.join('\n')}
const { RewardQualityAssessor, flatMetrics } = entry${runnable.indexOf('@rlp/quality-monitor')};
const assessed = new RewardQualityAssessor().assessBatch(${JSON.stringify(batch)});
document.title = JSON.stringify({ entries: [${runnable.map((_, at) => `Object.keys(entry${at}).length`)}], metrics: flatMetrics(assessed.metrics) });`;
    const found = JSON.parse(await titleOfPage(contents));
    expect(found.metrics).toEqual(flatMetrics(new RewardQualityAssessor().assessBatch(batch).metrics));
    expect(found.entries.every((count: number) => count > 0)).toBe(true);
  });
});

/** Bundles all entries at once, because they share most of their files. Returns what each file imports. */
async function importsByFile(specifiers: readonly string[]): Promise<Metafile['inputs']> {
  const { metafile } = await build({
    entryPoints: specifiers.map(sourceOf),
    outdir: 'unwritten',
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['@rlp/source', 'browser', 'import'],
    external: [...builtinModules, 'node:*'],
    alias: Object.fromEntries(peers.map((peer) => [peer, `missing-${peer}`])),
    logLevel: 'silent',
  });
  return metafile.inputs;
}

/** Files that an entry's bundle is made of. */
function filesOf(entry: string, inputs: Metafile['inputs']): Set<string> {
  const files = new Set([entry]);
  for (const file of files) {
    const { imports } = inputs[file] ?? { imports: [] };
    for (const { path, external } of imports) if (!external) files.add(path);
  }
  return files;
}

describe('bundles for browsers', () => {
  let inputs: Metafile['inputs'];
  beforeAll(async () => {
    inputs = await importsByFile(isomorphic);
  });

  it.each(isomorphic)('of %s need nothing that only Node has, and no optional peer', (specifier) => {
    const entry = sourceOf(specifier);
    expect(inputs[entry]).toBeDefined();
    const imports = [...filesOf(entry, inputs)].flatMap((file) =>
      inputs[file]!.imports.filter(
        ({ external, path }) =>
          external && path !== bundlerRuntime && !peers.some((peer) => path.startsWith(peer)),
      ).map(({ path }) => `${file} imports ${path}`),
    );
    expect(imports).toEqual([]);
  });
});
