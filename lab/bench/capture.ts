/** Time that a capture adds to a request of an agent beyond the agent's own `fetch`, with a policy that answers at once. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { byteTokenizer, tokenizerChat } from '@rlp/models';
import { type AgentConnection, type CaptureOptions, captureRollouts } from '@rlp/serve/capture';
import type { Line } from './report.ts';

const chatTemplate = `{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}`;
const tokenizer = byteTokenizer({ end: '<|end|>' }, { chatTemplate });

/** Requests of a conversation, each longer than the one before. */
const turns = 8;
const conversations = 200;
const warmUp = 50;
const text = 'word '.repeat(20);

type Door = Pick<AgentConnection, 'baseURL' | 'apiKey' | 'model'>;

/** Over sockets, beside a server that only reads the body, and without sockets. */
export async function* captureLines(): AsyncGenerator<Line> {
  const answer = JSON.stringify({ choices: [{ message: { content: text } }] });
  const server = createServer(async (request, response) => {
    await json(request);
    response.setHeader('content-type', 'application/json').end(answer);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const bare = { baseURL: `http://127.0.0.1:${port}`, apiKey: 'none', model: 'none' };
  yield await line('http', bare);
  await new Promise((closed) => server.close(closed).closeAllConnections());
  yield await line('fetch', undefined);
}

/** Asks both doors in turns, so that a busy machine slows both. */
async function line(transport: 'http' | 'fetch', bare: Door | undefined): Promise<Line> {
  const captured: number[] = [];
  const plain: number[] = [];
  await capture(transport, async (_, connection) => {
    const fetch = transport === 'http' ? globalThis.fetch : connection.fetch;
    const messages = [{ role: 'user', content: 'A question of some length. '.repeat(10) }];
    for (let turn = 0; turn < turns; turn++) {
      if (bare !== undefined) plain.push((await ask(bare, messages, globalThis.fetch)).milliseconds);
      const { content, milliseconds } = await ask(connection, messages, fetch);
      captured.push(milliseconds);
      messages.push({ role: 'assistant', content }, { role: 'user', content: 'And then?' });
    }
  });
  const below = plain.slice(warmUp * turns);
  const added = captured.slice(warmUp * turns).map((whole, index) => whole - (below[index] ?? 0));
  return {
    ...{ bench: 'capture', transport, requests: added.length },
    ...{ addedP50Ms: quantile(added, 0.5), addedP95Ms: quantile(added, 0.95) },
    ...(bare && { bareP50Ms: quantile(below, 0.5) }),
  };
}

/** Runs an agent in every conversation, against a policy whose only answer was sampled before. */
async function capture(transport: 'http' | 'fetch', run: CaptureOptions['run']): Promise<void> {
  const tokens = [...tokenizer.encode(text), ...tokenizer.eosIds];
  const sampled = { tokens, behaviorLogprobs: tokens.map(() => -1), text };
  const completion = { ...sampled, stopReason: 'stop' as const, policyVersion: 0 };
  const policy = {
    ...{ tokenizer, renderer: tokenizerChat(tokenizer, { origin: 'bench' })!, policyVersion: 0 },
    ...{ contextLength: 8192, vocabularySize: tokenizer.vocabularySize, sample: async () => [completion] },
  };
  await using rollouts = captureRollouts({ policy, run, transport, groupSize: 1, concurrentEpisodes: 1 });
  const tasks = Array.from({ length: conversations + warmUp }, (_, index) => ({
    ...{ id: String(index), prompt: '', metadata: undefined },
  }));
  for await (const { trajectories } of rollouts.collectGroups(tasks)) {
    const [trajectory] = trajectories;
    if (trajectory?.status !== 'completed') throw new Error(trajectory?.failure?.message);
  }
}

async function ask(
  { baseURL, apiKey, model }: Door,
  messages: readonly object[],
  fetch: typeof globalThis.fetch,
) {
  const begun = performance.now();
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages }),
  });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return { content: choices[0]!.message.content, milliseconds: performance.now() - begun };
}

function quantile(values: readonly number[], share: number): number {
  return Number(values.toSorted((a, b) => a - b)[Math.floor(share * values.length)]!.toFixed(3));
}
