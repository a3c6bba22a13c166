import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Trajectory } from '@rlp/core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runsFolderPage, serveDashboard } from '../dashboard.ts';

const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const root = mkdtempSync(join(tmpdir(), 'dashboard-'));
const attack = '</script><img src=x onerror="document.title=1">';

const graded = { value: 0.412, low: 0.35, high: 0.475, interval: 't', tasks: 3, responses: 3 };

const row = (step: number, value: number) =>
  `${JSON.stringify({ step, metrics: { 'reward/mean': value, 'tokens/trained': 10 } })}\n`;

function makeRun(
  name: string,
  { seed, clipHigh }: { readonly seed: string; readonly clipHigh: number },
): void {
  const folder = join(root, name);
  for (const part of ['evaluations', 'trajectories']) mkdirSync(join(folder, part), { recursive: true });
  const record = {
    ...{ record: 'run', version: 1, config: { algorithm: { clipHigh } }, mode: 'rl', status: 'running' },
    ...{ startedAt: '2026-01-01', updatedAt: '2026-01-01', seconds: 90, stages: {}, seeds: { run: seed } },
    ...{
      versions: {},
      host: { platform: 'linux', arch: 'x64', cpu: 'a processor', cores: 2, memoryBytes: 1 },
    },
  };
  writeFileSync(join(folder, 'run.json'), JSON.stringify(record));
  writeFileSync(join(folder, 'metrics.jsonl'), row(0, Number(seed)) + row(1, 0.5) + row(2, 0.75));
  writeFileSync(join(folder, 'notes.jsonl'), `${JSON.stringify({ step: 1, note: `a note ${attack}` })}\n`);
  const evaluation = {
    ...{ record: 'evaluation', name: 'final', seed, policyVersion: 1, samples: 1, confidence: 0.95 },
    ...{ accuracy: 0.5, low: 0.3, high: 0.7, interval: 'wilson', components: {}, notes: [], tasks: [] },
    ...(name === 'three' && { reward: graded }),
    ...{ unscored: { count: 0, causes: {} } },
  };
  writeFileSync(join(folder, 'evaluations', 'final.json'), JSON.stringify(evaluation));
  const sample = { task: 't', prompt: '2 + 2 =', response: attack, reward: 1, components: {} };
  writeFileSync(join(folder, 'evaluations', 'final.jsonl'), `${JSON.stringify(sample)}\n`);
  const trajectory: Trajectory = {
    ...{ id: '0', task: { id: 'sum', prompt: '2 + 2 =', metadata: {} }, messages: [], response: '4' },
    ...{ steps: [], status: 'completed', policyVersion: 0 },
  };
  writeFileSync(
    join(folder, 'trajectories', '0.jsonl'),
    `${JSON.stringify({ version: 1, ...trajectory })}\n`,
  );
}

makeRun('one', { seed: '0', clipHigh: 0.2 });
makeRun('two', { seed: '1', clipHigh: 0.2 });
makeRun('three', { seed: '0', clipHigh: 0.3 });
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('serveDashboard', () => {
  it('shows nothing without the token, and only what there is', async () => {
    await using dashboard = await serveDashboard({ directory: root, token: 'a token of the test' });
    const { origin, hash } = new URL(dashboard.url);
    expect(hash).toBe('#token=a%20token%20of%20the%20test');
    expect((await fetch(`${origin}/view`)).status).toBe(401);
    expect((await fetch(`${origin}/opened/guess`)).status).toBe(401);
    const headers = { authorization: 'Bearer a token of the test' };
    expect((await fetch(`${origin}/trajectories?run=..`, { headers })).status).toBe(404);
    expect((await fetch(`${origin}/view`, { headers, method: 'POST' })).status).toBe(405);
    const curves = await (await fetch(`${origin}/curves?metric=reward/mean`, { headers })).json();
    expect(curves).toMatchObject({ one: { steps: [0, 1, 2], values: [0, 0.5, 0.75] } });
  });

  it('refuses a folder that is not there', async () => {
    const missing = join(root, 'missing');
    await expect(serveDashboard({ directory: missing })).rejects.toThrow(
      'expected a folder of runs, got nothing',
    );
    await expect(runsFolderPage({ directory: join(root, 'one', 'trajectories') })).rejects.toThrow(
      'holds no runs',
    );
    await expect(serveDashboard({ directory: root, prot: 1 } as never)).rejects.toThrow('port');
  });
});

describe.skipIf(!existsSync(chromiumPath))('the page in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
  }, 60_000);
  afterAll(() => browser.close());

  async function open(
    url: string,
    width = 1200,
  ): Promise<{ readonly page: Page; readonly problems: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 800 } });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(url);
    await page.waitForSelector('.plot canvas');
    return { page, problems };
  }

  it('follows a run while it trains, and opens its trajectories', async () => {
    await using dashboard = await serveDashboard({ directory: root, refreshMs: 50 });
    const { page, problems } = await open(dashboard.url);
    await page.waitForSelector('p[role=status]:text("Live.")');
    await page.waitForSelector('tr:has-text("three") td[data-label=Reward]:text("0.412 (0.350 to 0.475)")');
    appendFileSync(join(root, 'three', 'metrics.jsonl'), row(3, 0.25));
    await page.waitForSelector('.readout .series-1:text("0.25")');
    appendFileSync(join(root, 'three', 'metrics.jsonl'), 'not a row\n');
    await page.waitForSelector('.problem:text("line 5: expected a row of metrics")');
    await page.click('tr:has-text("three") button');
    await page.waitForSelector('.row');
    expect(await page.title()).toBe('Trajectories of three');
    await page.goBack();
    await page.waitForSelector('.plot canvas');
    await page.close();
    expect(problems).toEqual([]);
  });

  it.skipIf(process.platform === 'win32')(
    'shows what is read, and an overview of large runs, while runs are still being read',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'dashboard-slow-'));
      cpSync(join(root, 'one'), join(folder, 'quick'), { recursive: true });
      mkdirSync(join(folder, 'slow'));
      mkdirSync(join(folder, 'vast'));
      const rows = Array.from({ length: 20_000 }, (_, step) => row(step, step / 20_000));
      writeFileSync(join(folder, 'vast', 'metrics.jsonl'), rows.join(''));
      const slow = join(folder, 'slow', 'metrics.jsonl');
      // A pipe cannot be opened for reading until somebody writes to it.
      execFileSync('mkfifo', [slow]);
      try {
        await using dashboard = await serveDashboard({ directory: folder, refreshMs: 50 });
        const { page, problems } = await open(dashboard.url);
        await page.waitForSelector('p[role=status]:text("2 of 3 runs are still being read. Until then")');
        expect(await page.textContent('p[role=status]')).toContain('an overview and may miss extremes');
        await page.waitForSelector('.readout li[title=vast]:text("1")');
        expect(await page.textContent('tr:has-text("slow")')).toContain('reading…');
        closeSync(openSync(slow, 'r+'));
        rmSync(slow);
        writeFileSync(slow, row(0, 0.125));
        await page.waitForSelector('.readout .series-1:text("0.125")');
        await page.waitForSelector('p[role=status]:text-is("Live.")');
        expect(await page.textContent('tr:has-text("vast") td[data-label=Iterations]')).toBe('20000');
        await page.close();
        expect(problems).toEqual([]);
      } finally {
        if (existsSync(slow)) closeSync(openSync(slow, 'r+'));
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );

  it('stands alone, is read by keyboard, and runs nothing that a model wrote', async () => {
    const path = join(root, 'page.html');
    const html = await runsFolderPage({ directory: root, title: 'Three runs' });
    expect(html).toMatch(/uplot [\d.]+\s+The MIT License[^*]+Copyright[^*]+Permission is hereby granted/);
    writeFileSync(path, html);
    const { page, problems } = await open(pathToFileURL(path).href);
    expect(await page.textContent('table.runs')).toContain('2 seeds');
    expect(await page.textContent('body')).toContain(`a note ${attack}`);
    expect(await page.locator('img').count()).toBe(0);
    await page.focus('.plot');
    await page.keyboard.press('Home');
    expect(await page.textContent('.readout')).toBe('0 iterations0.50');
    await page.keyboard.press('ArrowRight');
    expect(await page.textContent('.readout')).toBe('1 iterations0.50.5');
    await page.keyboard.press('t');
    expect(await page.textContent('.chart tbody')).toMatch(/^00\.50/);
    await page.selectOption('#axis', 'tokens');
    expect(await page.textContent('.chart thead')).toContain('tokens trained on');
    await page.fill('#wanted', 'nothing like it');
    expect(await page.textContent('.charts')).toBe('No metric is called like this.');
    expect(await page.title()).toBe('Three runs');
    await page.close();
    expect(problems).toEqual([]);
  });

  it('fits a phone', async () => {
    const { page } = await open(pathToFileURL(join(root, 'page.html')).href, 390);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    // The evaluations of two of these runs have no reward, and a label alone says nothing.
    const rewards = page.locator('table:has(caption:text-is("Evaluations")) td[data-label=Reward]');
    expect([await rewards.count(), await rewards.filter({ visible: true }).count()]).toEqual([3, 1]);
    await page.close();
  });

  it('prints the differences of many runs on paper, and names some runs of a chart', async () => {
    for (let run = 0; run < 8; run++) makeRun(`many/run-${run}`, { seed: '0', clipHigh: run / 10 });
    const path = join(root, 'many.html');
    writeFileSync(path, await runsFolderPage({ directory: join(root, 'many') }));
    const { page, problems } = await open(pathToFileURL(path).href, 700);
    await page.emulateMedia({ media: 'print' });
    const rows = await page.locator('.differences tr').allTextContents();
    expect(rows.slice(0, 3)).toEqual(['Runalgorithm.clipHigh', 'run-00', 'run-10.1']);
    expect(rows).toHaveLength(9);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(700);
    expect(await page.getAttribute('.plot', 'aria-label')).toMatch(
      /^reward\/mean over iterations, 8 curves: run-0, run-1, run-2 and 5 more\./,
    );
    await page.close();
    expect(problems).toEqual([]);
  });

  it('draws a run of one iteration as a point', async () => {
    const folder = join(root, 'short');
    cpSync(join(root, 'one'), join(folder, 'one'), { recursive: true });
    writeFileSync(join(folder, 'one', 'metrics.jsonl'), row(0, 0.5));
    const path = join(root, 'short.html');
    writeFileSync(path, await runsFolderPage({ directory: folder }));
    const { page } = await open(pathToFileURL(path).href);
    // Grid and labels are grey. The line of a run is not.
    const coloured = await page.evaluate(`{
      const canvas = document.querySelector('.plot canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] > 200 && Math.abs(data[at] - data[at + 2]) > 100) count += 1;
      count;
    }`);
    expect(coloured).toBeGreaterThan(5);
    rmSync(folder, { recursive: true });
    await page.close();
  });
});
