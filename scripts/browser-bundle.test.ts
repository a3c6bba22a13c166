import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { flatMetrics, RewardQualityAssessor } from '@rlp/quality-monitor';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** Subpaths of `@rlp/rewards` that need Node; all others promise to run anywhere. */
const ofNode = ['./serve', './workers', './package.json'];

const { exports } = JSON.parse(readFileSync('packages/rewards/package.json', 'utf8')) as { exports: object };

/** Entries that promise to run anywhere JavaScript does. */
const isomorphic = [
  ...['@rlp/core', '@rlp/env', '@rlp/algorithms', '@rlp/onnx', '@rlp/page', '@rlp/quality-monitor'],
  '@rlp/quality-monitor/page',
  ...Object.keys(exports)
    .filter((subpath) => !ofNode.includes(subpath))
    .map((subpath) => `@rlp/rewards${subpath.slice(1)}`),
];

/** Those that load nothing an application has to bring. */
const runnable = [
  '@rlp/core',
  '@rlp/env',
  '@rlp/algorithms',
  '@rlp/page',
  '@rlp/quality-monitor',
  '@rlp/rewards',
];

const batch = {
  responses: ['<reasoning>two and two are four, as counting shows</reasoning><answer>4</answer>', 'no tags'],
  rewards: { accuracy: [1, 0] },
};

/** What an application brings itself, in the build that suits where it runs. */
const brought = ['onnxruntime-node', 'eld/small', 'mathjs', 'obscenity'];

/** How esbuild names helpers of its own. */
const bundlerRuntime = '<runtime>';

const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
const hasBrowser = existsSync(chromium);
if (!hasBrowser) console.warn(`skipped: no browser at ${chromium}`);

describe('the isomorphic entries', () => {
  it.skipIf(!hasBrowser)('work in a browser as they do here', { timeout: 60_000 }, async () => {
    const lines = runnable.map((specifier, at) => `import * as entry${at} from '${specifier}';`);
    const contents = `${lines.join('\n')}
const { RewardQualityAssessor, flatMetrics } = entry${runnable.indexOf('@rlp/quality-monitor')};
const assessed = new RewardQualityAssessor().assessBatch(${JSON.stringify(batch)});
document.title = JSON.stringify({ entries: [${runnable.map((_, at) => `Object.keys(entry${at}).length`)}], metrics: flatMetrics(assessed.metrics) });`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: process.cwd() },
      bundle: true,
      write: false,
      format: 'iife',
      platform: 'browser',
      conditions: ['@rlp/source', 'browser', 'import'],
      logLevel: 'silent',
    });
    const directory = mkdtempSync(join(tmpdir(), 'browser-'));
    const page = join(directory, 'page.html');
    writeFileSync(join(directory, 'bundle.js'), outputFiles[0]!.text);
    writeFileSync(page, '<!doctype html><meta charset="utf-8"><script src="bundle.js"></script>');
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${directory}/profile`];
    const { stdout } = await promisify(execFile)(chromium, [...flags, '--dump-dom', `file://${page}`]);
    rmSync(directory, { recursive: true, force: true });
    const title = /<title>(.*)<\/title>/.exec(stdout)?.[1] ?? '';
    const found = JSON.parse(title.replaceAll('&quot;', '"'));
    expect(found.metrics).toEqual(flatMetrics(new RewardQualityAssessor().assessBatch(batch).metrics));
    expect(found.entries.every((count: number) => count > 0)).toBe(true);
  });
});

describe.each(isomorphic)('%s in a browser', (specifier) => {
  it('bundles without anything that only Node has', async () => {
    const { metafile, errors } = await build({
      stdin: { contents: `export * from '${specifier}';`, resolveDir: process.cwd() },
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'browser',
      conditions: ['@rlp/source', 'browser', 'import'],
      external: [...builtinModules, 'node:*', ...brought],
      logLevel: 'silent',
    });
    expect(errors).toEqual([]);
    const imports = Object.entries(metafile.inputs).flatMap(([file, input]) =>
      input.imports
        .filter(({ external, path }) => external && ![...brought, bundlerRuntime].includes(path))
        .map(({ path }) => `${file} imports ${path}`),
    );
    expect(imports).toEqual([]);
  });
});
