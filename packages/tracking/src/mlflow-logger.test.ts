import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { MlflowLogger } from './index.ts';
import { finding, hasModule, python, samples } from './testing/readers.ts';

const directory = mkdtempSync(join(tmpdir(), 'mlflow-'));
afterAll(() => rmSync(directory, { recursive: true }));

interface Received {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly authorization: string | undefined;
}

const createdRun = '{"run":{"info":{"run_id":"r1","artifact_uri":"mlflow-artifacts:/7/r1/artifacts"}}}';

/** As much of a tracking server as answers the logger. The first requests fail. */
async function fakeServer(failures = 0) {
  const received: Received[] = [];
  let left = failures;
  const read = async (request: IncomingMessage) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString() || '{}';
  };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await read(request));
    const path = request.url!.replace('/api/2.0/mlflow/', '').replace('/api/2.0/', '').replace(/\?.*/, '');
    if (left-- > 0) return response.writeHead(503).end('busy');
    received.push({ path, body, authorization: request.headers.authorization });
    if (path === 'experiments/get-by-name') return response.writeHead(404).end('{}');
    if (path === 'experiments/create') return response.end('{"experiment_id":"7"}');
    return response.end(path === 'runs/create' ? createdRun : '{}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, close: () => server.close() };
}

describe('MlflowLogger', () => {
  it('makes experiment and run, sends rows together, and finishes', async () => {
    const server = await fakeServer(1);
    const logger = new MlflowLogger({
      url: server.url,
      experiment: 'grpo',
      parameters: { lr: '0.1' },
      token: 'secret',
    });
    for (let step = 0; step < 3; step++) logger.log(step, { 'reward/mean': step, 'odd(name)': Number.NaN });
    await logger.close();
    server.close();
    expect(server.received.map(({ path }) => path)).toEqual([
      'experiments/get-by-name',
      'experiments/create',
      'runs/create',
      'runs/log-batch',
      'runs/log-batch',
      'runs/update',
    ]);
    expect(new Set(server.received.map(({ authorization }) => authorization))).toEqual(
      new Set(['Bearer secret']),
    );
    const { metrics } = server.received[4]!.body as { metrics: Record<string, unknown>[] };
    expect(metrics).toHaveLength(6);
    expect(metrics[3]).toMatchObject({ key: 'odd_name_', value: 'NaN', step: 1 });
  });

  it('takes the experiment that another process makes at the same time', async () => {
    const problems: string[] = [];
    const asked: string[] = [];
    const racing: typeof fetch = async (url) => {
      const path = String(url)
        .replace(/.*mlflow\//, '')
        .replace(/\?.*/, '');
      asked.push(path);
      const isMade = asked.includes('experiments/create');
      if (path === 'experiments/create') return new Response('RESOURCE_ALREADY_EXISTS', { status: 400 });
      if (path === 'experiments/get-by-name')
        return new Response('{"experiment":{"experiment_id":"7"}}', { status: isMade ? 200 : 404 });
      return new Response(createdRun);
    };
    const onProblem = (problem: string) => problems.push(problem);
    const logger = new MlflowLogger({
      url: 'http://127.0.0.1:1',
      experiment: 'grpo',
      fetch: racing,
      onProblem,
    });
    logger.log(0, { a: 1 });
    await logger.close();
    expect([problems, logger.dropped]).toEqual([[], 0]);
    expect(asked.slice(0, 4)).toEqual([
      'experiments/get-by-name',
      'experiments/create',
      'experiments/get-by-name',
      'runs/create',
    ]);
  });

  it('has one run, with its numbers, where the server refuses the parameters', async () => {
    const problems: string[] = [];
    const bodies: string[] = [];
    const refusing: typeof fetch = async (url, { body } = {}) => {
      const path = String(url).replace(/.*mlflow\//, '');
      const text = String(body ?? '');
      bodies.push(`${path} ${text}`);
      if (path === 'runs/create') return new Response('{"run":{"info":{"run_id":"r1"}}}');
      if (text.includes('"params"')) return new Response('too long', { status: 400 });
      return new Response('{"experiment":{"experiment_id":"7"}}');
    };
    const logger = new MlflowLogger({
      url: 'http://127.0.0.1:1',
      experiment: 'grpo',
      fetch: refusing,
      attempts: 1,
      parameters: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`p(${at})`, 'x'])),
      onProblem: (message) => problems.push(message),
    });
    logger.log(0, { a: 1, ['b'.repeat(300)]: 2 });
    await logger.close();
    expect(bodies.map((one) => one.split(' ')[0])).toEqual([
      'experiments/get-by-name?experiment_name=grpo',
      'runs/create',
      'runs/log-batch',
      'runs/log-batch',
      'runs/log-batch',
      'runs/update',
    ]);
    expect(bodies[2]).toContain('"p_0_"');
    expect(bodies[4]).toContain(`"${'b'.repeat(250)}"`);
    expect(logger.dropped).toBe(0);
    expect(problems[0]).toContain('parameters: POST mlflow/runs/log-batch: status 400: too long');
  });

  it('keeps what waits when a batch is lost while the run goes on', async () => {
    const sent: number[] = [];
    const losing: typeof fetch = async (url, { body } = {}) => {
      if (String(url).endsWith('runs/create')) return new Response(createdRun);
      if (!String(url).endsWith('runs/log-batch')) {
        return new Response('{"experiment":{"experiment_id":"7"}}');
      }
      const { metrics } = JSON.parse(String(body)) as { metrics: unknown[] };
      sent.push(metrics.length);
      return sent.length === 1 ? new Response('busy', { status: 503 }) : new Response('{}');
    };
    const options = {
      url: 'http://127.0.0.1:1',
      experiment: 'grpo',
      attempts: 1,
      onProblem: () => undefined,
    };
    const logger = new MlflowLogger({ ...options, fetch: losing });
    logger.log(0, Object.fromEntries(Array.from({ length: 2500 }, (_, at) => [`metric-${at}`, at])));
    await vi.waitFor(() => expect(sent).toEqual([1000, 1000, 500]));
    await logger.close();
    expect(logger.dropped).toBe(1000);
  });

  it('sends at most 1000 numbers and tags together, as the server takes', async () => {
    const server = await fakeServer();
    const logger = new MlflowLogger({ url: server.url, experiment: 'grpo' });
    for (let step = 0; step < 1500; step++) logger.log(step, { loss: step });
    for (let step = 0; step < 150; step++) logger.note(step, 'seen');
    await logger.close();
    server.close();
    const batches = server.received.map(({ body }) => body as { metrics?: unknown[]; tags?: unknown[] });
    const sizes = batches.map(({ metrics = [], tags = [] }) => [metrics.length, tags.length]);
    expect(sizes.filter(([metrics]) => metrics! > 0)).toEqual([
      [900, 100],
      [600, 50],
    ]);
  });

  it('makes tags of notes and findings, and a table of samples', async () => {
    const server = await fakeServer();
    const logger = new MlflowLogger({ url: server.url, experiment: 'grpo' });
    logger.note(3, 'one');
    logger.finding(3, finding);
    logger.samples(3, samples);
    await logger.close();
    server.close();
    const bodyOf = (wanted: string) => server.received.find(({ path }) => path === wanted)!.body;
    expect(bodyOf('runs/log-batch').tags).toEqual([
      { key: 'note/00000003.0', value: 'one' },
      { key: 'finding/00000003.1', value: 'high spread: wide' },
    ]);
    expect(bodyOf('mlflow-artifacts/artifacts/7/r1/artifacts/samples.json')).toEqual({
      columns: ['step', 'task', 'prompt', 'response', 'reward', 'exact', 'short'],
      data: [
        [3, 't1', '1+1=', '2', 1, 1, null],
        [3, 't2', '1+2=', 'a|b\nc', null, null, 0.5],
      ],
    });
    expect(bodyOf('runs/set-tag')).toMatchObject({ run_id: 'r1', key: 'mlflow.loggedArtifacts' });
  });

  it('never waits for the server, and says once that it is gone', async () => {
    const problems: string[] = [];
    const logger = new MlflowLogger({
      url: 'http://127.0.0.1:1',
      experiment: 'grpo',
      attempts: 1,
      token: 'secret',
      onProblem: (message) => problems.push(message),
    });
    for (let step = 0; step < 5; step++) logger.log(step, { a: step });
    await logger.close();
    logger.log(5, { a: 5 });
    await logger.close();
    expect(logger.dropped).toBe(6);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(
      /^MlflowLogger: metrics are not delivered to http:\/\/127\.0\.0\.1:1: .*further failures are only counted$/,
    );
    expect(problems[0]).not.toContain('secret');
  });

  it.each([
    [401, 1],
    [429, 3],
    [503, 3],
  ])('asks again only where that can help: status %i', async (status, expected) => {
    let requests = 0;
    const answering: typeof fetch = async () => new Response(`no, ${++requests}`, { status });
    const options = { url: 'http://127.0.0.1:1', experiment: 'grpo', onProblem: () => undefined };
    const logger = new MlflowLogger({ ...options, fetch: answering });
    logger.log(0, { a: 1 });
    await logger.close();
    expect(requests).toBe(expected);
  });

  it('closes after one batch where the server never answers, and counts what waited', async () => {
    let requests = 0;
    const silent: typeof fetch = (_, { signal } = {}) => {
      requests += 1;
      return new Promise((_resolve, reject) =>
        signal!.addEventListener('abort', () => reject(signal!.reason)),
      );
    };
    const options = { url: 'http://127.0.0.1:1', experiment: 'grpo', fetch: silent };
    const logger = new MlflowLogger({ ...options, attempts: 1, timeoutMs: 20, onProblem: () => undefined });
    const row = Object.fromEntries(Array.from({ length: 2500 }, (_, at) => [`metric-${at}`, at]));
    logger.log(0, row);
    await Promise.all([logger.close(), logger.close()]);
    expect([requests, logger.dropped]).toEqual([1, 2500]);
  });

  it.skipIf(!hasModule('mlflow'))('is understood by a real server', { timeout: 240_000 }, async () => {
    const port = 20_000 + (process.pid % 20_000);
    const server = spawn(
      python,
      [
        '-m',
        'mlflow',
        'server',
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        '--workers',
        '1',
        '--backend-store-uri',
        `sqlite:///${directory}/mlflow.db`,
      ],
      { stdio: 'ignore', cwd: directory, detached: true },
    );
    try {
      const url = `http://127.0.0.1:${port}`;
      await reachable(`${url}/health`);
      const problems: string[] = [];
      const onProblem = (problem: string) => problems.push(problem);
      const parameters = { lr: '0.1', 'clip (high)': '0.2' };
      const logger = new MlflowLogger({ url, experiment: 'grpo', run: 'first', parameters, onProblem });
      for (let step = 0; step < 1500; step++) logger.log(step, { 'reward/mean': step / 2 });
      logger.note(3, 'one');
      logger.finding(3, finding);
      logger.samples(3, samples);
      await logger.close();
      expect(problems).toEqual([]);
      const script = [
        'import sys, json, mlflow',
        'client = mlflow.MlflowClient(sys.argv[1])',
        'mlflow.set_tracking_uri(sys.argv[1])',
        'experiment = mlflow.set_experiment("grpo").experiment_id',
        'run = client.search_runs([experiment])[0]',
        'history = client.get_metric_history(run.info.run_id, "reward/mean")',
        'table = client.load_table(experiment, "samples.json", run_ids=[run.info.run_id]).to_dict(orient="list")',
        'tags = {k: v for k, v in run.data.tags.items() if not k.startswith("mlflow.")}',
        'print(json.dumps(dict(status=run.info.status, name=run.info.run_name, parameters=run.data.params, tags=tags, table=table, history=[[m.step, m.value] for m in history])))',
      ].join('\n');
      const read = execFileSync(python, ['-c', script, url], { encoding: 'utf8', maxBuffer: 2 ** 24 });
      const { history, ...rest } = JSON.parse(read.trim().split('\n').at(-1)!.replaceAll('NaN', 'null'));
      expect(history).toEqual(Array.from({ length: 1500 }, (_, step) => [step, step / 2]));
      expect(rest).toEqual({
        ...{ status: 'FINISHED', name: 'first', parameters: { lr: '0.1', 'clip _high_': '0.2' } },
        tags: { 'note/00000003.0': 'one', 'finding/00000003.1': 'high spread: wide' },
        table: {
          ...{ step: [3, 3], task: ['t1', 't2'], prompt: ['1+1=', '1+2='], response: ['2', 'a|b\nc'] },
          ...{ reward: [1, null], exact: [1, null], short: [null, 0.5] },
        },
      });
    } finally {
      process.kill(-server.pid!, 'SIGKILL');
    }
  });
});

/** Resolves once an address answers. */
async function reachable(url: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  throw new Error(`${url} does not answer`);
}
