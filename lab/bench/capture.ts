/** Time that a capture adds to a request, over what the policy itself takes. */
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

/** Milliseconds per request beyond the sampler's, over sockets and without. */
export async function* captureLines(): AsyncGenerator<Line> {
  for (const transport of ['http', 'fetch'] as const) {
    const added = await addedTimes(transport);
    const at = (share: number) => Number(added[Math.floor(share * added.length)]!.toFixed(3));
    yield { bench: 'capture', transport, requests: added.length, p50Ms: at(0.5), p95Ms: at(0.95) };
  }
}

async function addedTimes(transport: 'http' | 'fetch'): Promise<number[]> {
  let samplingMs = 0;
  const renderer = tokenizerChat(tokenizer, { origin: 'bench' })!;
  const policy = scriptedBackend({
    completions: ['word '.repeat(20)],
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
  const run = async (_: unknown, connection: AgentConnection) => {
    const fetch = transport === 'http' ? globalThis.fetch : connection.fetch;
    const messages = [{ role: 'user', content: 'A question of some length. '.repeat(10) }];
    for (let turn = 0; turn < turns; turn++) {
      const begun = performance.now();
      const content = await ask(connection, messages, fetch);
      added.push(performance.now() - begun - samplingMs);
      messages.push({ role: 'assistant', content }, { role: 'user', content: 'And then?' });
    }
  };
  await using rollouts = captureRollouts({ policy, run, transport, groupSize: 1, concurrentEpisodes: 1 });
  const tasks = Array.from({ length: conversations + warmUp }, (_, index) => ({
    ...{ id: String(index), prompt: '', metadata: undefined },
  }));
  for await (const { trajectories } of rollouts.collectGroups(tasks)) {
    const [trajectory] = trajectories;
    if (trajectory?.status !== 'completed') throw new Error(trajectory?.failure?.message);
  }
  return added.slice(warmUp * turns).sort((a, b) => a - b);
}

async function ask(
  { baseURL, apiKey, model }: AgentConnection,
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
