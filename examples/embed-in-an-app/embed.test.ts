import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gzipBytes, pageHtml } from './bundle.ts';
import { scoreLines } from './score.ts';

const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
const available = existsSync(chromium);
if (!available) console.warn(`skipped: no browser at ${chromium}`);

async function documentOf(html: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rlp-embed-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'index.html');
  await writeFile(file, html);
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    `--user-data-dir=${join(directory, 'profile')}`,
  ];
  const { stdout } = await promisify(execFile)(chromium, [...flags, '--dump-dom', `file://${file}`], {
    timeout: 60_000,
  });
  return stdout;
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
    const page = await gzipBytes("import './page.ts';");
    const processor = await gzipBytes("export { createRolloutRewardProcessor } from '@rlp/rewards';");
    const integrated = await gzipBytes("export { createIntegratedRewardSystem } from '@rlp/rewards';");
    const all = await gzipBytes("export * from '@rlp/rewards';");
    const sizes = { page, processor, integrated, all };
    console.log('bytes loaded first, after gzip, zod apart:', sizes);
    expect(page).toBeLessThan(20_000);
    expect(processor).toBeLessThan(20_000);
    expect(integrated).toBeLessThan(20_000);
    expect(all).toBeLessThan(20_000);
  });

  it('weighs less than 50 kB with zod, of which only what is used is there', async () => {
    const bytes = await gzipBytes("export * from '@rlp/rewards';", 'counted');
    console.log('bytes loaded first, after gzip:', bytes);
    expect(bytes).toBeLessThan(50_000);
  });
});
