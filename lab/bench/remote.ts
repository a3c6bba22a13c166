/** What sampling over HTTP costs the controller: overhead of a request, requests per second through a fleet, weights handed over. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createOnnxBackend } from '@rlp/backprop';
import { pooledFetch } from '@rlp/http/pooled';
import { engineFleet } from '@rlp/inference';
import { createVllmSampler } from '@rlp/inference/vllm';
import { characterTokenizer, loadModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { type Line, median } from './report.ts';

const inFlight = 256;
/** Measured one after the other, so that the median hides what else the machine does in some of them. */
const windows = 15;
const requestsOfWindow = 1024;
const warmUp = 1024;
const servers = 2;
const promptTokens = 128;

/** Milliseconds that a request spent with the server and on the way. */
interface Away {
  milliseconds: number;
}

/** Lines of `pnpm bench remote`. */
export async function* remoteLines(): AsyncGenerator<Line> {
  yield* fleetLines();
  yield await adapterLine();
}

async function* fleetLines(): AsyncGenerator<Line> {
  const stubs = await Promise.all(Array.from({ length: servers }, startStub));
  const urls = stubs.map(({ url }) => url);
  const shape = { inFlight, servers, promptTokens, windows, requestsOfWindow };
  const bare = await measured((index) => bareRequest(urls[index % servers]!, index), stubs);
  const fleet = await fleetOf(urls, undefined);
  const whole = await measured((index) => fleet.sample(requestOf(index)), stubs);
  const { perSecond, processorMs, stubMs } = whole;
  yield {
    ...{ name: 'remote/requests', shape, value: median(perSecond), unit: 'requests/s' },
    ...{
      range: rangeOf(perSecond),
      bareFetch: median(bare.perSecond),
      rangeOfBareFetch: rangeOf(bare.perSecond),
    },
  };
  yield {
    ...{ name: 'remote/processor', shape, value: processorMs, unit: 'ms per request', stubs: stubMs },
    ...{ bareFetch: bare.processorMs, stubsOfBareFetch: bare.stubMs },
  };
  // The store slows all promises of the process, so it comes last.
  const away = new AsyncLocalStorage<Away>();
  const timedFleet = await fleetOf(urls, timed(away));
  const overheads: number[] = [];
  await measured(async (index) => {
    const spent: Away = { milliseconds: 0 };
    const begun = performance.now();
    await away.run(spent, () => timedFleet.sample(requestOf(index)));
    overheads.push(performance.now() - begun - spent.milliseconds);
  }, stubs);
  yield { name: 'remote/overhead-p50', shape, value: median(overheads), unit: 'ms' };
  for (const { child } of stubs) child.disconnect();
}

async function fleetOf(urls: readonly string[], fetched: ReturnType<typeof timed> | undefined) {
  const tokenizer = characterTokenizer('abcdefgh', { begin: '<s>', end: '</s>' });
  const options = { tokenizer, vocabularySize: 64, ...(fetched && { fetch: fetched }) };
  return engineFleet(await Promise.all(urls.map((url) => createVllmSampler({ url, ...options }))));
}

function requestOf(index: number) {
  const prompt = Array.from({ length: promptTokens }, (_, t) => 3 + ((index + t) % 7));
  return { prompt, count: 1, maxTokens: 16, seed: `${index}` };
}

/** The same exchange without a client. */
async function bareRequest(url: string, index: number): Promise<void> {
  const { prompt: token_ids, maxTokens: max_tokens } = requestOf(index);
  const body = JSON.stringify({ model: 'stub', token_ids, sampling_params: { max_tokens, logprobs: 0 } });
  const headers = { 'content-type': 'application/json' };
  await (await fetch(`${url}/inference/v1/generate`, { method: 'POST', body, headers })).json();
}

/** Speed, and processor time of the controller and of the stubs together. */
async function measured(ask: (index: number) => Promise<unknown>, stubs: readonly Stub[]) {
  await askAll(ask, warmUp);
  const stubsBefore = await processorOf(stubs);
  const before = process.cpuUsage();
  const perSecond: number[] = [];
  for (let window = 0; window < windows; window++) {
    const begun = performance.now();
    await askAll(ask, requestsOfWindow);
    perSecond.push((1000 * requestsOfWindow) / (performance.now() - begun));
  }
  const { user, system } = process.cpuUsage(before);
  const requests = windows * requestsOfWindow;
  const stubMs = ((await processorOf(stubs)) - stubsBefore) / requests;
  return { perSecond, processorMs: (user + system) / 1000 / requests, stubMs };
}

function rangeOf(values: readonly number[]): readonly number[] {
  return [Math.min(...values), Math.max(...values)].map(Math.round);
}

/** Milliseconds of processor time that the stubs took so far. */
async function processorOf(stubs: readonly Stub[]): Promise<number> {
  const used = await Promise.all(
    stubs.map(async ({ child }) => {
      child.send('processor');
      const [{ processor }] = (await once(child, 'message')) as [{ readonly processor: NodeJS.CpuUsage }];
      return (processor.user + processor.system) / 1000;
    }),
  );
  return used.reduce((sum, each) => sum + each, 0);
}

/** Asks for everything, with so many requests under way. */
async function askAll(ask: (index: number) => Promise<unknown>, count: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await ask(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** The transport of the drivers, which notes the time until the whole answer was there. */
function timed(away: AsyncLocalStorage<Away>) {
  return async (...[url, init]: Parameters<NonNullable<typeof pooledFetch>>) => {
    const begun = performance.now();
    const { status, headers, text } = await pooledFetch!(url, init);
    const body = await text();
    const spent = away.getStore();
    if (spent !== undefined) spent.milliseconds += performance.now() - begun;
    return { status, headers, text: async () => body };
  };
}

interface Stub {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startStub(): Promise<Stub> {
  const child = fork(fileURLToPath(new URL('./vllm-server.ts', import.meta.url)));
  const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }];
  return { child, url: `http://127.0.0.1:${port}` };
}

/** Milliseconds from trained weights to a server that samples with them, as an adapter. */
async function adapterLine(): Promise<Line> {
  const { RLP_VLLM_URL: url, RLP_VLLM_MODEL: folder } = process.env;
  const name = 'remote/adapter';
  if (url === undefined || folder === undefined) {
    return { name, skipped: 'set RLP_VLLM_URL and RLP_VLLM_MODEL, the folder of the model that it serves' };
  }
  const root = await mkdtemp(join(tmpdir(), 'rlp-bench-'));
  const [model, engine] = [await loadModel(folder), await createEngine({ threads: 1 })];
  const backend = await createOnnxBackend({
    engine,
    model,
    learningRate: 1e-3,
    lora: { rank: 8 },
    reference: 'none',
  });
  const { tokenizer, config } = model;
  const sampler = await createVllmSampler({ url, tokenizer, vocabularySize: config.vocabularySize });
  const times: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const begun = performance.now();
    await sampler.updateWeights(await backend.publish({ as: 'adapter', directory: root }));
    times.push(performance.now() - begun);
  }
  await backend.close();
  await engine.close();
  await rm(root, { recursive: true, force: true });
  return { name, shape: { model: folder, rank: 8 }, value: median(times), unit: 'ms' };
}
