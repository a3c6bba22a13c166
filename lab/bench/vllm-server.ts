/**
 * A stub of vLLM in a process of its own: it answers each request for tokens after 20 ms with 16 tokens of logprob −1. Started by remote.ts with an
 * IPC channel. It sends `{ port }` once it listens, and its `{ processor }` time for each message.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const tokens = Array.from({ length: 16 }, (_, t) => 5 + t);
const content = tokens.map((token_id) => ({ token_id, logprob: -1 }));
const token_logprobs = tokens.map(() => -1);

interface Asked {
  readonly prompt?: readonly number[];
  readonly prompt_logprobs?: number;
}

function answerTo(path: string, { prompt = [], prompt_logprobs }: Asked): [status: number, body: unknown] {
  switch (path) {
    case '/v1/models':
      return [200, { data: [{ id: 'stub', root: 'stub', max_model_len: 4096 }] }];
    case '/inference/v1/generate':
      return [
        200,
        { choices: [{ index: 0, token_ids: tokens, finish_reason: 'length', logprobs: { content } }] },
      ];
    case '/v1/completions': {
      if (prompt_logprobs === -1) return [400, { error: { message: 'greater than max allowed: 20' } }];
      const scored = prompt.map((token, t) => (t === 0 ? null : { [token]: { logprob: -1 } }));
      const choice = { index: 0, token_ids: tokens, prompt_token_ids: prompt, finish_reason: 'length' };
      const choices = [{ ...choice, logprobs: { token_logprobs }, prompt_logprobs: scored }];
      return [200, { model: 'stub', choices }];
    }
    case '/v1/unload_lora_adapter':
      return [404, { error: { message: 'The lora adapter cannot be found.' } }];
    default:
      return [200, { status: 'ok' }];
  }
}

const sampled = Buffer.from(JSON.stringify(answerTo('/inference/v1/generate', {})[1]));
const sampledHead = { 'content-type': 'application/json', 'content-length': sampled.length };

const server = createServer((request, response) => {
  if (request.url === '/inference/v1/generate') {
    // As cheap as a server in Node.js can be: the question is not parsed, and the answer is ready.
    request.resume();
    setTimeout(() => response.writeHead(200, sampledHead).end(sampled), 20);
    return;
  }
  let text = '';
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    const [status, body] = answerTo(request.url!, text === '' ? {} : (JSON.parse(text) as Asked));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});
// Longer than a pause of the bench, so that no connection closes as a request begins.
server.keepAliveTimeout = 120_000;
process.on('disconnect', () => process.exit());
process.on('message', () => process.send?.({ processor: process.cpuUsage() }));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
