import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pageHtml, scoreLines } from './score-in-a-page.ts';

const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
const available = existsSync(chromium);
if (!available) console.warn(`skipped: no browser at ${chromium}`);

async function documentOf(html: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rlp-page-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'index.html');
  await writeFile(file, html);
  const profile = `--user-data-dir=${join(directory, 'profile')}`;
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', profile, '--dump-dom', `file://${file}`];
  return (await promisify(execFile)(chromium, flags, { timeout: 60_000 })).stdout;
}

/** Leaves out what is only loaded when it is needed. */
const withoutLaterImports: Plugin = {
  name: 'without-later-imports',
  setup(builder) {
    builder.onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

/** Bytes after gzip of a bundle of some code, without what the code may load later on. */
async function gzipBytes(code: string, zod: 'counted' | 'apart' = 'apart'): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['@rlp/source', 'browser', 'import'],
    external: zod === 'apart' ? ['zod'] : [],
    plugins: [withoutLaterImports],
  });
  return gzipSync(outputFiles[0]!.contents).length;
}

describe('a reward in a web page', () => {
  it.skipIf(!available)(
    'gives in a browser what it gives in Node',
    async () => {
      const shown = /<output>([^<]*)<\/output>/.exec(await documentOf(await pageHtml()))?.[1];
      const text = 'A policy learns from the reward of what it tried: more of what paid.';
      expect(shown?.split('\n')).toEqual(scoreLines(text));
      expect(scoreLines(text)[0]).toMatch(/^reward 0\.\d{3}$/);
    },
    90_000,
  );

  it('weighs less than 20 kB with what it imports, zod not counted', async () => {
    const processor = await gzipBytes("export { createRolloutRewardProcessor } from '@rlp/rewards';");
    const integrated = await gzipBytes("export { createIntegratedRewardSystem } from '@rlp/rewards';");
    const all = await gzipBytes("export * from '@rlp/rewards';");
    const sizes = { processor, integrated, all };
    console.log('bytes loaded first, after gzip, zod apart:', sizes);
    for (const bytes of Object.values(sizes)) expect(bytes).toBeLessThan(20_000);
  });

  it('weighs less than 50 kB with zod, of which only what is used is there', async () => {
    const bytes = await gzipBytes("export * from '@rlp/rewards';", 'counted');
    console.log('bytes loaded first, after gzip:', bytes);
    expect(bytes).toBeLessThan(50_000);
  });
});
