import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildOffline, buildPlayground } from './build.ts';
import { games, puzzlesOf, score } from './games.ts';
import { learn, newModel, type Progress } from './learn.ts';
import { serveFolder } from './serve.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const hasBrowser = existsSync(executablePath);
if (!hasBrowser) console.warn(`skipped: no browser at ${executablePath}`);

describe('the games', () => {
  it('have right answers that score 1, and others that score less', () => {
    expect(games.sort.solve('dbca')).toBe('abcd');
    expect(games.reverse.solve('dbca')).toBe('acbd');
    expect(games.vowels.solve('banjo')).toBe('ao');
    for (const name of Object.keys(games) as (keyof typeof games)[]) {
      const puzzles = puzzlesOf(name, '0', 50);
      expect(new Set(puzzles.map(({ prompt }) => prompt)).size).toBe(50);
      for (const { right } of puzzles) {
        expect(score(right, right)).toBe(1);
        expect(score(`${right}a`, right)).toBeLessThan(1);
      }
    }
  });
});

const short = { imitations: 4, iterations: 2 };

/** The same training in Node. */
async function learnedHere() {
  const engine = await createEngine({ thread: 'inline', threads: 1 });
  const { signal } = new AbortController();
  const training = learn(engine, newModel('0'), { game: 'sort', seed: '0', signal, ...short });
  const rows: Progress[] = [];
  let step = await training.next();
  for (; !step.done; step = await training.next()) rows.push(step.value);
  await engine.close();
  return { rows, weights: step.value.weights };
}

it('keeps what the model has learned when it is stopped during its first update', async () => {
  const engine = await createEngine({ thread: 'inline', threads: 1 });
  const stop = new AbortController();
  const training = learn(engine, newModel('0'), { game: 'sort', seed: '0', signal: stop.signal, ...short });
  await training.next();
  setTimeout(() => stop.abort(), 30);
  const [first, end] = [await training.next(), await training.next()];
  await engine.close();
  expect(first.value).toMatchObject({ phase: 'imitate', done: 1 });
  if (!end.done) throw new Error('went on after the stop');
  expect(end.value.weights).not.toEqual(newModel('0').weights);
});

it('rejects where the port is in use, so that another one can be tried', async () => {
  const { url, close } = await serveFolder('.');
  await expect(serveFolder('.', Number(new URL(url).port))).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await close();
});

describe.skipIf(!hasBrowser)('the playground', () => {
  let folder: string;
  let browser: Browser;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rlp-playground-'));
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    await buildPlayground(join(folder, 'site'));
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true });
  });

  async function opened(
    isolation: 'isolated' | 'plain',
    { imitations, iterations } = short,
    serviceWorkers: 'allow' | 'block' = 'block',
  ) {
    const served = await serveFolder(join(folder, 'site'), 0, isolation);
    const page = await browser.newPage({ serviceWorkers });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('request', (request) => {
      if (!request.url().startsWith(served.url) && !request.url().startsWith('blob:'))
        problems.push(request.url());
    });
    await page.goto(`${served.url}?imitations=${imitations}&iterations=${iterations}`);
    const status = async (said: RegExp) =>
      page.locator('#status', { hasText: said }).waitFor({ timeout: 60_000 });
    const close = async () => {
      await page.close();
      await served.close();
      expect(problems).toEqual([]);
    };
    return { page, status, served, close };
  }

  it('has buttons that a thumb can hit', { timeout: 30_000 }, async () => {
    const { page, close } = await opened('plain');
    await page.setViewportSize({ width: 390, height: 800 });
    const heights = await page
      .locator('button, select')
      .evaluateAll((all) => all.map((one) => one.clientHeight));
    expect(heights).toHaveLength(4);
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(36);
    expect(await page.locator('html').evaluate((root) => root.scrollWidth)).toBeLessThanOrEqual(390);
    await close();
  });

  it('says that the connection is lost, and starts once it is back', { timeout: 60_000 }, async () => {
    const { page, status, close } = await opened('isolated', { imitations: 1, iterations: 1 });
    await page.context().setOffline(true);
    await page.click('#start');
    await status(/^It stopped: its program could not be loaded\. Check the connection/);
    await page.context().setOffline(false);
    await page.click('#start');
    await status(/Done/);
    await close();
  });

  it('needs no server once its files are kept, and has threads though its server did not isolate it', {
    timeout: 60_000,
  }, async () => {
    const { page, status, served, close } = await opened('plain', { imitations: 1, iterations: 1 }, 'allow');
    await page.locator('#threads').waitFor({ state: 'hidden' });
    await page.locator('#kept').waitFor({ timeout: 20_000 });
    await served.close();
    await page.reload();
    expect(await page.locator('#threads').isHidden()).toBe(true);
    await page.click('#start');
    await status(/Done/);
    await close();
  });

  it('shows a new build once no tab shows the old one', { timeout: 60_000 }, async () => {
    const site = join(folder, 'site that changes');
    await cp(join(folder, 'site'), site, { recursive: true });
    const served = await serveFolder(site);
    const context = await browser.newContext();
    const heading = async () => {
      const page = await context.newPage();
      await page.goto(served.url);
      const text = await page.textContent('h1');
      await page.close();
      return text;
    };
    const old = await context.newPage();
    await old.goto(served.url);
    await old.locator('#kept').waitFor({ timeout: 20_000 });

    await replaceIn(join(site, 'index.html'), 'A language model learns', 'It learns');
    await buildOffline(site);
    await old.reload();
    await expect.poll(() => old.evaluate(keptBuilds), { timeout: 20_000 }).toBe(2);
    expect(await old.textContent('h1')).toMatch(/^A language model learns/);
    await old.close();
    await expect.poll(heading, { timeout: 20_000 }).toMatch(/^It learns/);
    await context.close();
    await served.close();
  });

  it('keeps the old build while a server has only a part of the new one', { timeout: 60_000 }, async () => {
    const site = join(folder, 'site half deployed');
    await cp(join(folder, 'site'), site, { recursive: true });
    const served = await serveFolder(site);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(served.url);
    await page.locator('#kept').waitFor({ timeout: 20_000 });

    const old = await readFile(join(site, 'index.html'));
    await replaceIn(join(site, 'index.html'), 'A language model learns', 'It learns');
    await buildOffline(site);
    await writeFile(join(site, 'index.html'), old);
    await page.evaluate(lookedForUpdate);
    expect(await page.evaluate(keptBuilds)).toBe(1);
    await context.close();
    await served.close();
  });

  it('trains to the weights that Node trains to, and offers them', { timeout: 90_000 }, async () => {
    const { page, status, close } = await opened('isolated');
    expect(await page.locator('#threads').isHidden()).toBe(true);
    await page.click('#start');
    await status(/Done/);
    const [model, here] = [await downloaded(page, join(folder, 'model')), await learnedHere()];
    expect(here.rows).toHaveLength(1 + short.imitations + short.iterations);
    for (const [name, { data }] of here.weights) {
      const got = model.weights.get(name)!.data;
      const largest = data.reduce((most, value, at) => Math.max(most, Math.abs(value - got[at]!)), 0);
      expect(largest).toBeLessThan(1e-4);
    }
    expect(await page.locator('#answers tr').count()).toBe(8);
    await close();
  });

  it('pauses, goes on and stops, with one thread where the page is not isolated', {
    timeout: 90_000,
  }, async () => {
    const { page, status, close } = await opened('plain', { imitations: 2, iterations: 500 });
    expect(await page.textContent('#threads')).toMatch(/One thread computes/);
    await page.click('#start');
    await status(/practises/);
    await page.click('#pause');
    await status(/^Paused/);
    const paused = await page.textContent('#status');
    await page.waitForTimeout(500);
    expect(await page.textContent('#status')).toBe(paused);
    await page.click('#pause');
    await expect.poll(() => page.textContent('#status'), { timeout: 20_000 }).not.toBe(paused);
    await page.click('#stop');
    await status(/Done/);
    expect(await page.locator('#files a').count()).toBe(5);
    expect(await page.isEnabled('#start')).toBe(true);
    await close();
  });
});

/** Builds of the page that the browser keeps, asked in the page. */
async function keptBuilds(): Promise<number> {
  const { caches } = globalThis as unknown as { readonly caches: { keys(): Promise<readonly string[]> } };
  return (await caches.keys()).length;
}

interface Installing {
  readonly state: string;
  addEventListener(event: 'statechange', listener: () => void): void;
}

/** Looks for another build, and waits until it is kept or given up. */
async function lookedForUpdate(): Promise<void> {
  const { navigator } = globalThis as unknown as {
    readonly navigator: {
      readonly serviceWorker: {
        readonly ready: Promise<{ update(): Promise<unknown>; readonly installing: Installing | null }>;
      };
    };
  };
  const registration = await navigator.serviceWorker.ready;
  await registration.update();
  const { installing } = registration;
  if (installing === null) return;
  await new Promise<void>((done) => installing.addEventListener('statechange', () => done()));
}

async function replaceIn(file: string, what: string, by: string): Promise<void> {
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll(what, by));
}

/** Downloads the files of the page into a folder, and loads the model there. */
async function downloaded(page: Page, folder: string) {
  for (const link of await page.locator('#files a').all()) {
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    await download.saveAs(join(folder, download.suggestedFilename()));
  }
  return loadModel(folder);
}
