import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { ArgumentError, type Message } from '@rlp/core';
import { describeSampler, describeTokenScorer } from '@rlp/core/testing';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';

import { InferenceModule } from './inference-module.ts';
import { type ScriptedCompletion, type ScriptedPrompt, scriptedBackend } from './scripted-backend.ts';
import { StubVllm } from './testing/stub-vllm.ts';

const tokenizer = characterTokenizer('abcdefghijklmnopqrstuvwxyz .:', { begin: '<s>', end: '</s>' });
const renderer = {
  render: (messages: readonly Message[]) =>
    tokenizer.encode(`${messages.map(({ role, content }) => `${role}: ${content}. `).join('')}assistant: `),
};

function module(
  completions: readonly ScriptedCompletion[] | ((prompt: ScriptedPrompt) => ScriptedCompletion),
  chat: 'chat' | 'no chat' = 'chat',
) {
  const backend = scriptedBackend({ tokenizer, completions, contextLength: 64 });
  return InferenceModule.create({ backend, renderer: chat === 'chat' ? renderer : undefined });
}

describeSampler('InferenceModule', {
  create: () => module(['upon a time']),
  prompt: tokenizer.encode('once'),
  tooLongPrompt: Array.from({ length: 70 }, () => 5),
  randomness: 'scripted',
});

describeTokenScorer('InferenceModule', {
  create: () => module(['']),
  vocabularySize: tokenizer.vocabularySize,
  requests: [
    { prompt: [5, 6], completion: [7, 8, 9] },
    { prompt: [5], completion: [7, 8] },
  ],
});

describe('InferenceModule', () => {
  it('passes on what its backend says about weights and memory', async () => {
    const shares = { engine: {}, store: 'policy' };
    const backend = scriptedBackend({ tokenizer, completions: ['x'] });
    const refusals = { checkpoint: 'start it with --development' };
    const told = Object.assign(backend, { shares, refusals });
    const inference = await InferenceModule.create({ backend: told });
    expect(inference.refusals).toBe(refusals);
    expect([inference.accepts, inference.shares]).toEqual([['shared', 'adapter', 'checkpoint'], shares]);
    expect(inference.vocabularySize).toBe(tokenizer.vocabularySize);
    expect([inference.cacheBytes(100), inference.weightBytes]).toEqual([0, 0]);
    Object.assign(backend, { weightBytes: 5 });
    expect(inference.weightBytes).toBe(5);
    Object.assign(backend, { cacheBytes: (tokens: number, count = 4) => 2 * count * tokens });
    expect(inference.cacheBytes(100)).toBe(800);
    expect(inference.cacheBytes(100, 1)).toBe(200);
    expect(await inference.updateWeights({ kind: 'adapter', version: 5, path: 'x' })).toBe(5);
    expect(inference.policyVersion).toBe(5);
  });
});

describe('InferenceModule.create by name', () => {
  const model = fileURLToPath(new URL('../../../examples/models/stories260k', import.meta.url));

  it('loads a model into an engine, and ends it with the module', async () => {
    const inference = await InferenceModule.create({ backend: 'onnx', model });
    const [result] = await inference.generate(['Once upon a time'], { maxTokens: 4, temperature: 0 });
    expect(result!.tokens).toHaveLength(4);
    const { engine } = inference.shares as { engine: { readStore: (store: string) => Promise<unknown> } };
    await inference.close();
    await expect(engine.readStore('policy')).rejects.toThrow('closed');
  });

  it('asks a vLLM server with the tokenizer, the chat format and the vocabulary of a folder', async () => {
    const stub = new StubVllm();
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const signal = new AbortController().signal;
      const options = {
        method: 'POST',
        headers: {},
        redirect: 'manual',
        signal,
        ...(body && { body }),
      } as const;
      const answer = await stub.fetch(`http://stub${request.url}`, options);
      response.writeHead(answer.status).end(await answer.text());
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const inference = await InferenceModule.create({ backend: 'vllm', model, url });
    const { vocab_size: size } = JSON.parse(readFileSync(`${model}/config.json`, 'utf8'));
    expect([inference.vocabularySize, inference.contextLength]).toEqual([size, 32]);
    await inference.generate([[1, 5]], { maxTokens: 3 });
    expect(stub.asked.at(-1)!.body.token_ids).toEqual([1, 5]);
    await expect(InferenceModule.create({ backend: 'sglang', model, url })).rejects.toThrow(
      /createSglangSampler/,
    );
    await inference.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([
    [{ backend: 'vllm', model }, 'needs `url`, the address of the server'],
    [{ backend: 'vllm', model: '', url: 'http://server.test' }, 'needs `model`, the folder of the model'],
    [{ backend: 'onnx', model, url: 'http://server.test' }, "the backend 'onnx' has no `url`; leave it out"],
    [{ backend: null }, 'expected a backend or the name of one, got null'],
  ])('refuses %o', async (options, message) => {
    const creation = InferenceModule.create(options as never);
    await expect(creation).rejects.toThrow(ArgumentError);
    await expect(creation).rejects.toThrow(message);
  });
});

describe('InferenceModule.generate', () => {
  it('completes texts, conversations and tokens, prompt by prompt', async () => {
    const inference = await module(({ text, member }) => `${text.slice(3, 8)}${member}`.replace(/\d/, 'x'));
    const results = await inference.generate(
      ['hello', [{ role: 'user', content: 'hi' }], tokenizer.encode('tokens')],
      { count: 2 },
    );
    expect(results.map(({ prompt, member, text }) => [prompt, member, text])).toEqual([
      [0, 0, 'hellox'],
      [0, 1, 'hellox'],
      [1, 0, 'user:x'],
      [1, 1, 'user:x'],
      [2, 0, 'tokenx'],
      [2, 1, 'tokenx'],
    ]);
    expect(results[0]!.promptTokens).toEqual(tokenizer.encode('hello'));
    expect(results[0]!.logprobs).toHaveLength(results[0]!.tokens.length);
  });

  it('refuses a prompt that is not in a list', async () => {
    const inference = await module(['x']);
    await expect(inference.generate('once' as never)).rejects.toThrow(
      'expected a list of prompts, got string',
    );
    await expect(inference.generate([5] as never)).rejects.toThrow(
      'prompt: expected text, messages or tokens, got number',
    );
  });

  it('names a stream for each prompt, and others for the next call', async () => {
    const seeds: string[] = [];
    const inference = await module(({ seed }) => {
      seeds.push(seed);
      return 'x';
    });
    await inference.generate(['a', 'b']);
    await inference.generate(['a']);
    await inference.generate(['a'], { seed: 'mine' });
    expect(seeds).toEqual(['generate/0/0', 'generate/0/1', 'generate/1/0', 'mine/0']);
  });

  it('reports text as it becomes certain, and all of it', async () => {
    const inference = await module(['one. two', 'stopped: here']);
    const texts = ['', ''];
    const pieces: string[] = [];
    const results = await inference.generate(['a', 'b'], {
      stopStrings: [': '],
      onText: ({ prompt, text }) => {
        texts[prompt] += text;
        pieces.push(text);
      },
    });
    expect(texts).toEqual(['one. two', 'stopped']);
    expect(results.map(({ text }) => text)).toEqual(texts);
    expect(pieces.length).toBeGreaterThan(8);
    expect(pieces).not.toContain('');
    expect(results.map(({ stopReason }) => stopReason)).toEqual(['stop', 'stop']);
  });

  it('says that messages need a chat template', async () => {
    const inference = await module(['x'], 'no chat');
    await expect(inference.generate([[{ role: 'user', content: 'hi' }]])).rejects.toThrow('no chat template');
    await expect(inference.generate([[]])).rejects.toThrow('got []');
  });

  it('names every problem of its options at once', async () => {
    const inference = await module(['x']);
    const wrong = { maxTokens: 0, topP: 2, maxNewTokens: 5 } as never;
    await expect(inference.generate(['a'], wrong)).rejects.toThrow(
      /^generate: invalid options[\s\S]*maxTokens[\s\S]*topP[\s\S]*maxNewTokens/,
    );
  });

  it('rejects once aborted', async () => {
    const inference = await module(['x']);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(inference.generate(['a'], { signal })).rejects.toThrow('enough');
  });
});

describe('InferenceModule.stream', () => {
  it('yields the text piece by piece', async () => {
    let text = '';
    for await (const piece of (await module(['upon a time'])).stream('once ')) text += piece;
    expect(text).toBe('upon a time');
  });

  it('throws what generating throws', async () => {
    const stream = (await module(['x'])).stream('a'.repeat(80));
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('the prompt has 81 tokens');
  });

  it('throws the reason of its signal', async () => {
    const stop = new AbortController();
    const stream = (await module(['abcdef'])).stream('once ', { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('enough');
  });

  it('stops generating when the reader leaves', async () => {
    const backend = scriptedBackend({ tokenizer, completions: ['abc'] });
    let signal: AbortSignal | undefined;
    const watched: typeof backend = Object.create(backend, {
      sample: {
        value: (request: Parameters<typeof backend.sample>[0]) => {
          signal = request.signal;
          request.onToken?.({ member: 0, token: tokenizer.encode('a')[1]!, logprob: 0 });
          return new Promise((_, reject) => {
            signal!.addEventListener('abort', () => reject(signal!.reason));
          });
        },
      },
    });
    const inference = await InferenceModule.create({ backend: watched });
    for await (const piece of inference.stream('once ')) {
      expect(piece).toBe('a');
      break;
    }
    expect(signal!.aborted).toBe(true);
  });
});

it('every call names itself where a list is missing', async () => {
  const inference = await module(['x']);
  const bare = 'x' as never;
  await expect(inference.generate(bare)).rejects.toThrow(
    'generate: expected a list of prompts, got string: put it in brackets',
  );
  await expect(inference.batchGenerateWithTools(bare, [])).rejects.toThrow(
    /^batchGenerateWithTools: expected a list of prompts/,
  );
  await expect(inference.batchGenerateWithTools([], bare)).rejects.toThrow(
    /^batchGenerateWithTools: expected a list of tools/,
  );
  for (const method of ['getLogprobs', 'getEntropies', 'getLogits'] as const) {
    await expect(inference[method](bare, [])).rejects.toThrow(`${method}: expected a list of prompts`);
    await expect(inference[method]([], bare)).rejects.toThrow(`${method}: expected a list of responses`);
    await expect(inference[method](['a'], [])).rejects.toThrow(
      `${method}: expected one response for each prompt, got 1 prompts and 0 responses`,
    );
  }
});

it('a prompt that fails stops the others', async () => {
  const backend = scriptedBackend({ tokenizer, completions: ['x'] });
  const signals: AbortSignal[] = [];
  backend.sample = ({ prompt, signal }) => {
    signals.push(signal!);
    return prompt.length > 2 ? Promise.reject(new Error('too long')) : new Promise(() => undefined);
  };
  const inference = await InferenceModule.create({ backend });
  await expect(inference.generate(['a', 'abcd'])).rejects.toThrow('too long');
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect(signals[0]!.reason).toEqual(new Error('too long'));
});

describe('InferenceModule scores', () => {
  const uniform = -Math.log(tokenizer.vocabularySize);

  it('gives logprobs, entropies and logits of responses', async () => {
    const inference = await module(['x']);
    const [logprobs] = await inference.getLogprobs(['once '], ['upon']);
    expect([...logprobs!]).toEqual(Array.from({ length: 4 }, () => expect.closeTo(uniform, 5)));
    const [entropies] = await inference.getEntropies(['once '], [tokenizer.encode('up').slice(1)]);
    expect([...entropies!]).toEqual([expect.closeTo(-uniform, 5), expect.closeTo(-uniform, 5)]);
    const [logits] = await inference.getLogits(['once '], ['up']);
    expect(logits!.logits).toHaveLength(2 * tokenizer.vocabularySize);
    // Without a text before it, a response gets no special tokens either.
    const [alone] = await inference.getLogprobs([[5, 6]], ['up']);
    expect(alone).toHaveLength(2);
  });

  it('rejects prompts and responses that differ in number', async () => {
    const inference = await module(['x']);
    const scoring = inference.getLogprobs(['a', 'b'], ['c']);
    await expect(scoring).rejects.toThrow('got 2 prompts and 1 responses');
    await expect(inference.getLogprobs('a' as never, ['b'])).rejects.toThrow('expected a list of prompts');
    await expect(inference.getEntropies(['a'], 'b' as never)).rejects.toThrow('expected a list of responses');
    await expect(inference.getLogprobs(['a'], [undefined as never])).rejects.toThrow('got undefined');
  });
});
