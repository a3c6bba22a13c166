import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { RewardQualityAssessor } from '../assessor/assessor.ts';
import { serveMonitor } from '../live.ts';
import { RewardQualityMonitor } from '../monitor/monitor.ts';
import { renderMonitorPage } from '../report/monitor-page.ts';
import { recentLogs } from './recent-logs.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const hasBrowser = existsSync(executablePath);
if (!hasBrowser) console.warn(`skipped: no browser at ${executablePath}`);

const responses = new Array<string>(20).fill('<answer>the same</answer>');

async function liveMonitor() {
  const live = await serveMonitor({ refreshMs: 20 });
  const assessor = new RewardQualityAssessor({ minSamplesForAnalysis: 1 });
  const monitor = new RewardQualityMonitor({ assessor, loggers: [live.logger] });
  const step = () => monitor.monitorBatch({ responses, rewards: { a: responses.map((_, at) => at) } });
  return { live, step };
}

/** The stream of a page's updates, as its script asks for it. */
function eventsOf({ origin, hash }: URL, init: RequestInit = {}): Promise<Response> {
  const token = new URLSearchParams(hash.slice(1)).get('token');
  return fetch(`${origin}/events`, { ...init, headers: { authorization: `Bearer ${token}` } });
}

/** A raw request, as no browser would let one make it. */
async function raw(url: string, lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(`${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer.split('\r\n')[0]!;
}

describe('serveMonitor', () => {
  it('answers nobody without its token, under another name, or with another method', async () => {
    const { live } = await liveMonitor();
    const url = new URL(live.url);
    const { origin, host } = url;
    const statusOf = async (path: string, init?: RequestInit) =>
      (await fetch(`${origin}${path}`, init)).status;
    expect(url.search).toBe('');
    const token = url.hash.slice('#token='.length);
    expect(await statusOf('/events')).toBe(401);
    expect(await statusOf(`/events?token=${token}`)).toBe(401);
    expect(await statusOf('/other')).toBe(401);
    expect((await eventsOf(url)).status).toBe(200);
    expect((await eventsOf(url, { method: 'POST' })).status).toBe(405);
    expect(await (await fetch(origin)).text()).not.toContain('alerts');
    expect(await raw(live.url, ['GET / HTTP/1.1', 'host: evil.example'])).toContain('403');
    expect(await raw(live.url, ['GET / HTTP/1.1', `host: ${host}`])).toContain('200');
    expect(await raw(live.url, ['GET / HTTP/1.1', 'host: LOCALHOST:1'])).toContain('200');
    // Another address of this machine is no name that could have been made to lead here.
    expect(await raw(live.url, ['GET / HTTP/1.1', 'host: [::1]:80'])).toContain('200');
    expect(await raw(live.url, ['GET / HTTP/1.1'])).toContain('400');
    expect(host.startsWith('127.0.0.1:')).toBe(true);
    await live.close();
  });

  it.each([
    ['//', 400],
    ['//[', 400],
    ['http://[', 400],
    ['*', 400],
    ['/%', 401],
    ['/events?token=%', 401],
  ])('survives a request for %s', async (path, status) => {
    const { live } = await liveMonitor();
    const { host } = new URL(live.url);
    expect(await raw(live.url, [`GET ${path} HTTP/1.1`, `host: ${host}`])).toContain(` ${status} `);
    expect((await fetch(live.url)).status).toBe(200);
    await live.close();
  });

  it('takes no more connections than its readers need', async () => {
    const live = await serveMonitor({ maximumReaders: 1 });
    const { hostname, port } = new URL(live.url);
    const sockets = Array.from({ length: 100 }, () =>
      connect(Number(port), hostname).on('error', () => undefined),
    );
    const ended = sockets.map((socket) => once(socket.resume(), 'close'));
    await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBe(100 - 65);
    await live.close();
    await Promise.all(ended);
  });

  it('sends the state at once, and updates no more often than told', async () => {
    const { live, step } = await liveMonitor();
    const response = await eventsOf(new URL(live.url));
    const reader = response.body!.getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toContain('event: body');
    for (let at = 0; at < 10; at++) step();
    const update = await next();
    expect(update.match(/event: body/g)).toHaveLength(1);
    expect(update).toContain('diversity_collapse');
    await live.close();
    let rest = '';
    for (let read = await reader.read(); !read.done; read = await reader.read())
      rest += new TextDecoder().decode(read.value);
    expect(rest).toContain('event: end');
  });

  it('renders for a small part of the time, however long the page takes', async () => {
    let [now, rendered] = [0, 0];
    const clock = () => {
      rendered += 1;
      now += rendered % 2 === 0 ? 50 : 0;
      return now;
    };
    const live = await serveMonitor({ refreshMs: 20, clock });
    const monitor = new RewardQualityMonitor({ loggers: [live.logger] });
    const response = await eventsOf(new URL(live.url));
    const reader = response.body!.getReader();
    await reader.read();
    for (let at = 0; at < 10; at++) {
      monitor.monitorBatch({ responses, rewards: {} });
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    expect(rendered).toBe(2);
    await live.close();
  });

  it('keeps a long run in bounded memory, its newest batch and its counts among what is kept', () => {
    const { logs, logger } = recentLogs(() => undefined);
    for (let step = 0; step < 10_000; step++) {
      logger.log(step, { 'reward_quality/alerts_held': 1 });
    }
    const { metrics } = logs;
    expect(metrics.length).toBeLessThanOrEqual(1000);
    expect(metrics.at(-1)!.step).toBe(9999);
    expect(metrics.reduce((sum, row) => sum + row.metrics.alerts_held!, 0)).toBeGreaterThan(9_900);
  });

  it('says how many alerts it has let go, and keeps no more of a response than is shown', () => {
    const { logs, logger } = recentLogs(() => undefined);
    const alert = {
      severity: 'high',
      rule: 'planted',
      message: '',
      evidence: {},
      samples: ['\ud83d'.repeat(2000), 'short'],
    } as const;
    for (let step = 0; step < 1100; step++) {
      logger.finding!(step, { ...alert, iteration: step });
    }
    const { findings, olderFindings } = logs;
    expect([findings.length + olderFindings!, findings.at(-1)!.iteration]).toEqual([1100, 1099]);
    expect(findings[0]!.samples!.map((sample) => sample.length)).toEqual([1201, 5]);
    expect(renderMonitorPage(logs)).toContain('older alerts, not shown');
  });

  it('shows what is wrong with records that cannot be rendered', async () => {
    const { live } = await liveMonitor();
    live.logger.finding!(0, { iteration: 0, severity: 'high', rule: 'a', evidence: {} } as never);
    const reader = (await eventsOf(new URL(live.url))).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('This could not be shown');
    await live.close();
  });

  it('keeps no process alive, whoever still looks at the page', async () => {
    // The bundle that `scripts/thread-bundles.ts` made.
    const bundle = join(process.env.RLP_THREADS ?? '', 'packages/quality-monitor/src/live.js');
    const program = `
      const { serveMonitor } = await import(${JSON.stringify(pathToFileURL(bundle).href)});
      const live = await serveMonitor();
      console.log(live.url);
      setTimeout(() => {}, 300);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
    const [url] = (await once(child.stdout, 'data')) as [Buffer];
    const response = await eventsOf(new URL(String(url).trim()));
    const ended = response.text().catch(() => 'cut off');
    const [code] = await once(child, 'exit');
    expect([code, await ended]).toEqual([0, expect.any(String)]);
  }, 20_000);

  it('does not wait for a reader who never reads', async () => {
    const { live, step } = await liveMonitor();
    const { hostname, port, hash, host } = new URL(live.url);
    const socket = connect(Number(port), hostname);
    const authorization = `authorization: Bearer ${hash.slice('#token='.length)}`;
    socket.write(`GET /events HTTP/1.1\r\nhost: ${host}\r\n${authorization}\r\n\r\n`);
    await new Promise((connected) => socket.once('connect', connected));
    socket.pause();
    const start = performance.now();
    for (let at = 0; at < 200; at++) {
      step();
      if (at % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 25));
    }
    expect(performance.now() - start).toBeLessThan(10_000);
    await live.close();
    socket.destroy();
  });

  it('closes when its signal fires', async () => {
    const controller = new AbortController();
    const live = await serveMonitor({ signal: controller.signal });
    controller.abort();
    await expect
      .poll(() =>
        fetch(live.url).then(
          () => 'open',
          () => 'closed',
        ),
      )
      .toBe('closed');
  });

  it.skipIf(!hasBrowser)(
    'updates in a browser, keeps what is open, survives a reload',
    { timeout: 60_000 },
    async () => {
      const { live, step } = await liveMonitor();
      const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
      try {
        const page = await browser.newPage();
        const problems: string[] = [];
        page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
        page.on('pageerror', (error) => problems.push(error.message));
        await page.goto(live.url);
        await page.getByText('No alerts were reported.').waitFor();
        for (let at = 0; at < 3; at++) step();
        await page.getByText('Response diversity collapsed').first().waitFor();
        const values = page.locator('details', { hasText: 'All metrics by step' });
        await values.locator('summary').press('Enter');
        step();
        await page.locator('dl.summary').getByText('3', { exact: true }).first().waitFor();
        expect(await values.getAttribute('open')).not.toBeNull();
        expect(await page.evaluate('document.activeElement.textContent')).toBe('All metrics by step');
        await page.reload();
        await page.getByText('Response diversity collapsed').first().waitFor();
        await live.close();
        await page.getByText('The run is over.').waitFor();
        expect(problems).toEqual([]);
      } finally {
        await browser.close();
        await live.close();
      }
    },
  );
});
