/** Time that a capture adds to a request, over what the policy itself takes, beside a request to a server that does nothing. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { SampleRequest } from '@rlp/core';
import { scriptedBackend } from '@rlp/inference';
import { byteTokenizer, tokenizerChat } from '@rlp/models';
import { type AgentConnection, captureRollouts } from '@rlp/serve/capture';
import type { Line } from './report.ts';

const chatTemplate = `{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}`;
const tokenizer = byteTokenizer({ end: '<|end|>' }, { chatTemplate });

/** Requests of a conversation, each longer than the one before. */
const turns = 8;
const conversations = 200;
const warmUp = 50;
const completion = 'word '.repeat(20);

/** Milliseconds per request beyond the sampler's, over sockets and without. */
export async function* captureLines(): AsyncGenerator<Line> {
  yield line('bare http', await bareTimes());
  for (const transport of ['http', 'fetch'] as const) yield line(transport, await addedTimes(transport));
}

function line(transport: string, times: readonly number[]): Line {
  const measured = times.slice(warmUp * turns).sort((a, b) => a - b);
  const at = (share: number) => Number(measured[Math.floor(share * measured.length)]!.toFixed(3));
  return { bench: 'capture', transport, requests: measured.length, p50Ms: at(0.5), p95Ms: at(0.95) };
}

/** What the agent's own `fetch` takes: the same conversations with a server that only reads the body. */
async function bareTimes(): Promise<number[]> {
  const answer = JSON.stringify({ choices: [{ message: { content: completion } }] });
  const server = createServer(async (request, response) => {
    await json(request);
    response.setHeader('content-type', 'application/json').end(answer);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const connection = { baseURL: `http://127.0.0.1:${port}`, apiKey: 'none', model: 'none' };
  const times: number[] = [];
  for (let each = 0; each < conversations + warmUp; each++) {
    await converse(connection, globalThis.fetch, (milliseconds) => times.push(milliseconds));
  }
  await new Promise((closed) => server.close(closed).closeAllConnections());
  return times;
}

async function addedTimes(transport: 'http' | 'fetch'): Promise<number[]> {
  let samplingMs = 0;
  const renderer = tokenizerChat(tokenizer, { origin: 'bench' })!;
  const policy = scriptedBackend({
    completions: [completion],
    tokenizer,
    renderer,
    contextLength: 8192,
  });
  const sample = policy.sample.bind(policy);
  policy.sample = async (request: SampleRequest) => {
    const begun = performance.now();
    const completions = await sample(request);
    samplingMs = performance.now() - begun;
    return completions;
  };
  const added: number[] = [];
  const run = (_: unknown, connection: AgentConnection) => {
    const fetch = transport === 'http' ? globalThis.fetch : connection.fetch;
    return converse(connection, fetch, (milliseconds) => added.push(milliseconds - samplingMs));
  };
  await using rollouts = captureRollouts({ policy, run, transport, groupSize: 1, concurrentEpisodes: 1 });
  const tasks = Array.from({ length: conversations + warmUp }, (_, index) => ({
    ...{ id: String(index), prompt: '', metadata: undefined },
  }));
  for await (const { trajectories } of rollouts.collectGroups(tasks)) {
    const [trajectory] = trajectories;
    if (trajectory?.status !== 'completed') throw new Error(trajectory?.failure?.message);
  }
  return added;
}

type Door = Pick<AgentConnection, 'baseURL' | 'apiKey' | 'model'>;

async function converse(door: Door, fetch: typeof globalThis.fetch, took: (milliseconds: number) => void) {
  const messages = [{ role: 'user', content: 'A question of some length. '.repeat(10) }];
  for (let turn = 0; turn < turns; turn++) {
    const begun = performance.now();
    const content = await ask(door, messages, fetch);
    took(performance.now() - begun);
    messages.push({ role: 'assistant', content }, { role: 'user', content: 'And then?' });
  }
}

async function ask(
  { baseURL, apiKey, model }: Door,
  messages: readonly object[],
  fetch: typeof globalThis.fetch,
): Promise<string> {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages }),
  });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]!.message.content;
}
