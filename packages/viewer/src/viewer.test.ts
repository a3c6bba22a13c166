import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Finding, parseRecords, type RecordedTrajectory } from '@rlp/core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packed, unpacked } from './blocks.ts';
import { trajectoryPage } from './index.ts';
import { demoRecords } from './records.fixture.ts';

const records = demoRecords(120);
const finding: Finding = {
  rule: 'reward_behaviour_changed',
  severity: 'medium',
  message: 'Rewarded responses share "hat".',
  evidence: {},
  iteration: 0,
  trajectories: [records[9]!.trajectory.id],
};

describe('records', () => {
  it('are read as trajectories, scored ones and groups', () => {
    const [record] = records;
    expect(parseRecords(JSON.parse(JSON.stringify({ version: 1, ...record })), 'here')).toEqual([record]);
    const { trajectory } = record!;
    expect(parseRecords({ version: 1, ...trajectory }, 'here')).toEqual([trajectory]);
    const group = { id: 'g', task: trajectory.task, trajectories: [trajectory, trajectory] };
    expect(parseRecords(group, 'here')).toEqual([trajectory, trajectory]);
  });

  it.each([
    [{ version: 2, steps: [] }, 'version: expected 1, got 2'],
    [{ response: 'x' }, 'expected an object with `steps`, `trajectory` or `trajectories`'],
    [null, 'expected an object with'],
    [{ ...records[0], trace: [] }, 'trace: must hold one entry per step, got 0 for 2'],
    [{ ...records[0], trace: [{ mask: [1] }, {}] }, 'trace.0.mask: must hold one entry per token, got 1 for'],
  ])('are refused with place and field: %#', (value, problem) => {
    expect(() => parseRecords(value, 'run.jsonl, line 3')).toThrow('run.jsonl, line 3: not a trajectory: ');
    expect(() => parseRecords(value, 'run.jsonl, line 3')).toThrow(problem);
  });

  it('survive packing', async () => {
    const text = 'é😀\u0000'.repeat(20_000);
    expect(await unpacked(await packed(text))).toBe(text);
  });
});

it('is the same page for the same records, and nothing without one', async () => {
  expect(await trajectoryPage(records)).toBe(await trajectoryPage(records));
  await expect(trajectoryPage([])).rejects.toThrow('expected at least one trajectory, got none');
  await expect(trajectoryPage([{ question: '2+2=' } as never])).rejects.toThrow(
    'record 0 is not a trajectory',
  );
  await expect(trajectoryPage(records, { titel: 'x' } as never)).rejects.toThrow('title');
});

const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';

describe.skipIf(!existsSync(chromiumPath))('the page in Chromium', () => {
  const directory = mkdtempSync(join(tmpdir(), 'viewer-'));
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    rmSync(directory, { recursive: true });
  });

  /** Opens a page from a file, as somebody who was sent it. Problems of the page are collected. */
  async function open(
    given: readonly RecordedTrajectory[],
    { hash = '', width = 1300 }: { readonly hash?: string; readonly width?: number } = {},
  ) {
    const path = join(directory, 'page.html');
    writeFileSync(path, await trajectoryPage(given, { findings: [finding] }));
    const page = await browser.newPage({ viewport: { width, height: 800 } });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) problems.push(request.url());
    });
    await page.goto(`${pathToFileURL(path).href}${hash}`);
    await page.waitForSelector('.row', { state: 'attached' });
    return { page, problems };
  }

  const countOf = (page: Page) => page.textContent('.count');

  it('lists, filters, searches and opens trajectories by keyboard', async () => {
    const { page, problems } = await open(records);
    expect(await countOf(page)).toContain('120 trajectories');
    await page.keyboard.press('j');
    await page.waitForSelector('.said');
    expect(await page.textContent('.conversation')).toContain('calls weather');
    expect(await page.textContent('.facts')).toContain('rightAnswer');
    await page.keyboard.press('j');
    expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('id')).toBe(records[1]!.trajectory.id);
    await page.goBack();
    await page.waitForSelector(`.row.open[title="${records[0]!.trajectory.id}"]`);
    await page.keyboard.press('/');
    await page.keyboard.type('umbrella');
    const expected = records.filter(({ trajectory }) => trajectory.response.includes('umbrella')).length;
    await page.waitForSelector(`.count:text("${expected} of 120 trajectoriesshow")`);
    await page.fill('#search', '27, "note"');
    await page.waitForSelector('.count:text("120 trajectoriesshow")');
    await page.close();
    expect(problems).toEqual([]);
  });

  it('shows tokens, groups and recurring states at their own addresses', async () => {
    const id = encodeURIComponent(records[2]!.trajectory.id);
    const { page, problems } = await open(records, { hash: `#id=${id}&colour=advantage` });
    await page.waitForSelector('.tokens span');
    expect(await page.getAttribute('.tokens span', 'title')).toMatch(/^token 100, logprob .*, advantage /);
    expect(await page.textContent('.tokens')).toContain('<tool_call>');
    await page.keyboard.press('g');
    await page.waitForSelector('.member');
    expect(await page.locator('.member').count()).toBe(4);
    expect(await page.textContent('.detail')).toContain('Mean reward');
    expect(await page.textContent('table')).toContain('Bern, after 1 calls');
    await page.close();
    expect(problems).toEqual([]);
  });

  it('takes a reader from an alert to the trajectories that show it', async () => {
    const { page } = await open(records);
    await page.click('.alerts button');
    expect(await countOf(page)).toContain('1 of 120');
    await page.click('.row');
    await page.waitForSelector('.alert');
    expect(await page.textContent('.alert')).toContain('Rewarded responses share "hat".');
    await page.close();
  });

  it('shows the beginning of a long text, and all of it when asked', async () => {
    const [{ trajectory, ...rest }] = demoRecords(1) as [RecordedTrajectory];
    const messages = trajectory.messages.map((message) => ({ ...message, content: 'word '.repeat(10_000) }));
    const { page, problems } = await open([{ ...rest, trajectory: { ...trajectory, messages } }]);
    await page.keyboard.press('j');
    await page.waitForSelector('.said');
    expect((await page.textContent('.said pre'))?.length).toBe(20_001);
    await page.click('.said button:text("Show all 50000 characters")');
    expect((await page.textContent('.said pre'))?.length).toBe(50_000);
    await page.close();
    expect(problems).toEqual([]);
  });

  it('shows one thing at a time on a phone', async () => {
    const { page } = await open(records, { width: 390 });
    await page.click('.row');
    await page.waitForSelector('.said');
    expect(await page.isVisible('.list')).toBe(false);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.click('.back');
    expect(await page.isVisible('.row')).toBe(true);
    await page.close();
  });

  it('runs nothing that a model wrote', async () => {
    const attack =
      '</script><script>document.title="taken"</script><img src=x onerror="document.title=1">\u2028';
    const [{ trajectory, ...rest }] = demoRecords(1) as [RecordedTrajectory];
    const messages = trajectory.messages.map((message) => ({ ...message, content: attack }));
    const taken = {
      ...trajectory,
      id: attack,
      response: attack,
      messages,
      task: { ...trajectory.task, id: attack },
    };
    const { page, problems } = await open([{ ...rest, trajectory: taken }]);
    await page.keyboard.press('j');
    await page.waitForSelector('.said');
    expect(await page.textContent('.said pre')).toBe(attack);
    expect(await page.title()).toBe('Trajectories');
    expect(await page.locator('img').count()).toBe(0);
    await page.close();
    expect(problems).toEqual([]);
  });
});
