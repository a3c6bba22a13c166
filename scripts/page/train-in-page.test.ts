import { existsSync } from 'node:fs';
import { createEngine } from '@rlp/onnx/runtime';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundled, servePage } from './serve-page.ts';
import { learnLetter } from './train-in-page.fixture.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const hasBrowser = existsSync(executablePath);
if (!hasBrowser) console.warn(`skipped: no browser at ${executablePath}`);

describe.skipIf(!hasBrowser)('GRPO of a transformer in a page', () => {
  let browser: Browser;
  let program: Uint8Array;
  beforeAll(async () => {
    [browser, program] = await Promise.all([
      chromium.launch({ executablePath, args: ['--no-sandbox'] }),
      bundled('scripts/page/train-in-page.page.ts'),
    ]);
  }, 60_000);
  afterAll(() => browser?.close());

  async function learnedIn(isolation: 'isolated' | 'plain') {
    const served = await servePage(program, isolation);
    const page = await browser.newPage();
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    await page.goto(served.url);
    const result = (await page.evaluate('learned')) as {
      readonly rows: readonly (readonly number[])[];
      readonly threads: number;
      readonly failed?: string;
    };
    await page.close();
    await served.close();
    expect(result.failed).toBeUndefined();
    return { ...result, said };
  }

  it('has the rewards, losses and gradients that it has in Node', { timeout: 60_000 }, async () => {
    const engine = await createEngine({ thread: 'inline', threads: 1 });
    const expected = await learnLetter(engine);
    await engine.close();
    const { rows, threads, said } = await learnedIn('isolated');
    expect(said).toEqual([]);
    expect(threads).toBeGreaterThanOrEqual(1);
    expect(rows).toHaveLength(5);
    for (const [iteration, [reward, loss, norm]] of expected.entries()) {
      // The same tokens were sampled.
      expect(rows[iteration]![0]).toBe(reward);
      expect(rows[iteration]![1]).toBeCloseTo(loss!, 5);
      expect(rows[iteration]![2]! / norm!).toBeCloseTo(1, 4);
    }
    expect(rows.at(-1)![0]!).toBeGreaterThan(3 * rows[0]![0]!);
  });

  it('says in one sentence why it has one thread, and learns all the same', { timeout: 60_000 }, async () => {
    const { rows, threads, said } = await learnedIn('plain');
    expect(threads).toBe(1);
    expect(said).toEqual([expect.stringMatching(/not cross-origin isolated, so one thread computes/)]);
    expect(rows.at(-1)![0]!).toBeGreaterThan(3 * rows[0]![0]!);
  });
});
