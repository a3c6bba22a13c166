import { ArgumentError, RandomStream, SamplerError } from '@rlp/core';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { type Fault, StubVllm, stubLogprobs, stubVocabulary } from '../testing/stub-vllm.ts';
import { createVllmSampler, type VllmSamplerOptions } from '../vllm.ts';

const tokenizer = characterTokenizer('abcdefghijklmn', { begin: '<s>', end: '</s>' });
const create = (server: StubVllm, options: Partial<VllmSamplerOptions> = {}) =>
  createVllmSampler({
    ...{ url: 'http://server.test:8000', tokenizer, fetch: server.fetch },
    ...{ backoff: { firstMs: 1, longestMs: 2 }, ...options },
  });
const request = { prompt: [0, 5, 6], count: 2, maxTokens: 4, seed: 'test' };
const scored = { prompt: [0, 5], completion: [6, 7, 8] } as const;
const adapter = (version: number) => ({ kind: 'adapter', version, path: `/weights/${version}` }) as const;
const checkpoint = (version: number) => ({ ...adapter(version), kind: 'checkpoint' }) as const;

/** Holds answers back until it is opened. */
function gate(
  holds: Parameters<Fault> extends [infer Path, infer Body, unknown]
    ? (path: Path, body: Body) => boolean
    : never,
) {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const fault: Fault = (path, body, answer) => (holds(path, body) ? opened.then(() => answer) : undefined);
  return { open, fault };
}
const isSampling = (path: string) => path === '/inference/v1/generate';
const isScoring = (path: string, body: Readonly<Record<string, unknown>>) =>
  path === '/v1/completions' && body.prompt_logprobs !== undefined;
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('adapters on a server', () => {
  const unloaded = (server: StubVllm) =>
    server.asked
      .filter(({ path }) => path === '/v1/unload_lora_adapter')
      .map(({ body }) => String(body.lora_name).slice(0, 6))
      .filter((name) => name !== 'rlp pr');

  it('are unloaded once no request uses them', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.updateWeights(adapter(1));
    const { open, fault } = gate(isSampling);
    server.fault = fault;
    const sampling = sampler.sample(request);
    await sampler.updateWeights(adapter(2));
    await settled();
    expect(unloaded(server)).toEqual([]);
    open();
    expect((await sampling)[0]!.policyVersion).toBe(1);
    await settled();
    expect(unloaded(server)).toEqual(['rlp-1-']);
    server.fault = (path) => (path === '/v1/unload_lora_adapter' ? { status: 400, body: 'busy' } : undefined);
    await sampler.updateWeights(checkpoint(3));
    await settled();
    expect(unloaded(server)).toEqual(['rlp-1-', 'rlp-2-']);
    expect((await sampler.sample(request))[0]!.policyVersion).toBe(3);
  });

  it('stay if they are published again', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.updateWeights(adapter(1));
    await sampler.updateWeights(adapter(1));
    await settled();
    expect(unloaded(server)).toEqual([]);
  });

  it('replace what an earlier run left under their name', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    let isLeft = true;
    server.fault = (path) => {
      if (path === '/v1/unload_lora_adapter') isLeft = false;
      if (path !== '/v1/load_lora_adapter' || !isLeft) return undefined;
      return { status: 400, body: { error: { message: "The lora adapter 'rlp' has already been loaded." } } };
    };
    expect(await sampler.updateWeights(adapter(1))).toBe(1);
    expect(unloaded(server)).toEqual(['rlp-1-']);
  });
});

describe('scoring on a server', () => {
  it('waits for requests that run, and they wait for it, on a server with adapters', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    const order: string[] = [];
    const sampling = gate(isSampling);
    const scoring = gate(isScoring);
    server.fault = (...asked) => sampling.fault(...asked) ?? scoring.fault(...asked);
    const begun = server.asked.length;
    const first = [1, 2].map((n) => sampler.sample(request).then(() => order.push(`sampled ${n}`)));
    const between = sampler.scoreTokens([scored]).then(() => order.push('scored'));
    const last = sampler.sample(request).then(() => order.push('sampled last'));
    await settled();
    expect(server.asked.slice(begun).map(({ path }) => path)).toEqual(
      first.map(() => '/inference/v1/generate'),
    );
    sampling.open();
    await Promise.all(first);
    await settled();
    expect(server.asked.length - begun).toBe(3);
    scoring.open();
    await Promise.all([between, last]);
    expect(order).toEqual(['sampled 1', 'sampled 2', 'scored', 'sampled last']);
  });

  it('goes on beside requests that run, on a server without adapters', async () => {
    const server = new StubVllm();
    const refused: Fault = (path) =>
      path === '/v1/unload_lora_adapter' ? { status: 404, body: { detail: 'Not Found' } } : undefined;
    server.fault = refused;
    const sampler = await create(server);
    expect(sampler.accepts).toEqual(['checkpoint']);
    const { open, fault } = gate(isSampling);
    server.fault = fault;
    const sampling = sampler.sample(request);
    expect(await sampler.scoreTokens([scored])).toHaveLength(1);
    open();
    expect(await sampling).toHaveLength(2);
  });

  it.each<[string, (positions: unknown[]) => unknown, RegExp]>([
    ['fewer positions', (positions) => positions.slice(1), /logprobs of 5 prompt tokens, got 4/],
    [
      'other tokens',
      (positions) => positions.with(3, { 2: { logprob: -1 } }),
      /of prompt token 3, got undefined/,
    ],
    [
      'positive logprobs',
      (positions) => positions.with(2, { 6: { logprob: 1 } }),
      /of prompt token 2, got 1/,
    ],
    ['none', () => null, /expected prompt_logprobs/],
  ])('refuses an answer with %s', async (_, change, message) => {
    const server = new StubVllm();
    const sampler = await create(server, { attempts: 1 });
    server.fault = (path, body, answer) => {
      if (!isScoring(path, body)) return undefined;
      const [choice] = (answer.body as { choices: { prompt_logprobs: unknown[] }[] }).choices;
      return { body: { choices: [{ ...choice, prompt_logprobs: change(choice!.prompt_logprobs) }] } };
    };
    await expect(sampler.scoreTokens([scored])).rejects.toThrow(message);
  });

  it('computes the entropy of a distribution that gives a token no probability', async () => {
    const server = new StubVllm({ wholeLogprobs: true });
    const sampler = await create(server, { entropies: 'exact' });
    server.fault = (path, body, answer) => {
      if (!isScoring(path, body)) return undefined;
      const [choice] = (answer.body as { choices: { prompt_logprobs: unknown[] }[] }).choices;
      const half = { logprob: Math.log(0.5) };
      const prompt_logprobs = [null, ...choice!.prompt_logprobs.slice(1).map(() => ({ 5: half, 15: half }))];
      return { body: { choices: [{ ...choice, prompt_logprobs }] } };
    };
    const [scores] = await sampler.scoreTokens([{ prompt: [0], completion: [5, 5] }]);
    expect(Array.from(scores!.entropies)).toEqual([Math.fround(Math.LN2), Math.fround(Math.LN2)]);
  });

  it('gives the logprobs of the whole vocabulary as logits', async () => {
    const sampler = await create(new StubVllm({ wholeLogprobs: true }));
    const [first, second] = await sampler.scoreLogits([scored, { prompt: [0], completion: [9] }]);
    const expected = [5, 6, 7].flatMap((last) => stubLogprobs('base', last));
    expect(first).toEqual({ logits: Float32Array.from(expected), vocabularySize: stubVocabulary });
    expect(second!.logits).toEqual(Float32Array.from(stubLogprobs('base', 0)));
  });

  it('refuses logits of a server that does not give whole distributions, or lacks tokens in one', async () => {
    const partial = await create(new StubVllm());
    await expect(partial.scoreLogits([scored])).rejects.toThrow(/vLLM does not give the whole distribution/);
    const other = await create(new StubVllm({ wholeLogprobs: true }), { vocabularySize: 20, attempts: 1 });
    await expect(other.scoreLogits([scored])).rejects.toThrow(/expected 20 logprobs of a position, got 16/);
  });
});

describe('a sampler on a server', () => {
  it('ends requests that wait when it is closed, and refuses later ones', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    server.fault = () => new Promise(() => undefined);
    const sampling = sampler.sample(request);
    await sampler.close();
    await expect(sampling).rejects.toThrow('vLLM: the sampler was closed; create another one');
    await expect(sampler.scoreTokens([scored])).rejects.toThrow(SamplerError);
  });

  it('asks a server that was away for its weights, although its answers do not name them', async () => {
    const server = new StubVllm({ generate: false });
    const sampler = await create(server, { attempts: 50 });
    await sampler.updateWeights(checkpoint(1));
    server.isUp = false;
    const sampling = sampler.sample(request);
    await settled();
    server.restart();
    server.isUp = true;
    for (const { tokens, behaviorLogprobs } of await sampling) {
      expect(behaviorLogprobs[0]).toBe(stubLogprobs('/weights/1', 6)[tokens[0]!]);
    }
  });

  it('says which weights a server takes', async () => {
    const shared = { kind: 'shared', version: 1, engine: {}, store: 'policy' } as const;
    const sampler = await create(new StubVllm());
    await expect(sampler.updateWeights(shared)).rejects.toThrow(
      "vLLM does not take weights as 'shared'; publish as adapter or checkpoint",
    );
    const server = new StubVllm();
    server.fault = (path) =>
      /lora|weight_info/.test(path) ? { status: 404, body: { detail: 'Not Found' } } : undefined;
    const none = await create(server);
    await expect(none.updateWeights(shared)).rejects.toThrow('publish as something that it takes');
  });

  it('samples with filters at any temperature if logprobs are those before filters', async () => {
    const sampler = await create(new StubVllm({ logprobs: 'tempered' }));
    const [completion] = await sampler.sample({ ...request, temperature: 0.5, topK: 3 });
    const weights = stubLogprobs('base', 6).map((logprob) => Math.exp(logprob / 0.5));
    const share = weights[completion!.tokens[0]!]! / weights.reduce((sum, weight) => sum + weight, 0);
    expect(completion!.behaviorLogprobs[0]).toBeCloseTo(Math.log(share), 12);
  });

  it.each([{ topK: 3 }, { topP: 0.9 }, { minP: 0.1 }, { repetitionPenalty: 1.2 }])(
    'refuses %o if logprobs are those after filters',
    async (filter) => {
      const sampler = await create(new StubVllm({ logprobs: 'processed' }));
      expect(await sampler.sample({ ...request, temperature: 0.5 })).toHaveLength(2);
      const sampling = sampler.sample({ ...request, ...filter });
      await expect(sampling).rejects.toThrow(ArgumentError);
      await expect(sampling).rejects.toThrow(/gives logprobs after topK, topP, minP and repetitionPenalty/);
    },
  );
});

describe('weights of a server', () => {
  const asks = (server: StubVllm, path: string) => server.asked.filter((one) => one.path === path).length;

  it.each<[string, Fault, number]>([
    ['an error of the server', () => ({ status: 500, body: 'broken' }), 0],
    ['a wrong key', () => ({ status: 401, body: {} }), 0],
    ['a model that it does not know', () => ({ status: 404, body: {} }), 1],
    ['an answer that was cut', () => ({ body: '{"choi' }), 1],
  ])('are asked for after %s only if it may have lost them', async (_, fault, expected) => {
    const server = new StubVllm();
    const sampler = await create(server, { attempts: 1 });
    await sampler.updateWeights(checkpoint(1));
    server.fault = fault;
    await expect(sampler.sample(request)).rejects.toThrow(SamplerError);
    server.fault = () => undefined;
    const before = asks(server, '/weight_info');
    for (let i = 0; i < 2; i++) expect(await sampler.sample(request)).toHaveLength(2);
    expect(asks(server, '/weight_info') - before).toBe(expected);
  });

  it('are not asked for after the server began with others, or was given new ones', async () => {
    const server = new StubVllm();
    const sampler = await create(server, { attempts: 1 });
    const cut: Fault = () => ({ body: '{' });
    server.fault = cut;
    await expect(sampler.sample(request)).rejects.toThrow(SamplerError);
    server.fault = () => undefined;
    const begun = server.asked.length;
    await sampler.sample(request);
    expect(server.asked.slice(begun).map(({ path }) => path)).toEqual(['/inference/v1/generate']);
    server.fault = cut;
    await expect(sampler.sample(request)).rejects.toThrow(SamplerError);
    server.fault = () => undefined;
    await sampler.updateWeights(checkpoint(1));
    const updated = server.asked.length;
    await sampler.sample(request);
    expect(server.asked.slice(updated).map(({ path }) => path)).toEqual(['/inference/v1/generate']);
  });

  it('are given back once for all requests, after each restart', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.updateWeights(adapter(1));
    for (const loads of [2, 3]) {
      server.restart();
      const all = await Promise.all([request, request, request].map((one) => sampler.sample(one)));
      for (const [completion] of all) {
        const { tokens, behaviorLogprobs } = completion!;
        expect(behaviorLogprobs[0]).toBe(stubLogprobs('/weights/1', 6)[tokens[0]!]);
      }
      expect(asks(server, '/v1/load_lora_adapter')).toBe(loads);
    }
  });

  it('change after earlier updates, and a caller that gives up does not wait for those', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    const { open, fault } = gate((path) => path === '/v1/load_lora_adapter');
    server.fault = fault;
    const stop = new AbortController();
    const first = sampler.updateWeights(adapter(1));
    const second = sampler.updateWeights(adapter(2), stop.signal);
    stop.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    const third = sampler.updateWeights({ ...adapter(3), path: '/weights/missing' });
    const fourth = sampler.updateWeights(adapter(4));
    open();
    expect(await first).toBe(1);
    await expect(third).rejects.toThrow('No adapter found');
    expect(await fourth).toBe(4);
    const loaded = server.asked.flatMap(({ path, body }) =>
      path === '/v1/load_lora_adapter' ? [body.lora_path] : [],
    );
    expect(loaded).toEqual(['/weights/1', '/weights/missing', '/weights/4']);
  });

  it('rejects with the reason of its signal if that fires while the server loads', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    const stop = new AbortController();
    server.fault = (path) => {
      if (path === '/v1/load_lora_adapter') stop.abort(new Error('enough'));
      return undefined;
    };
    const update = sampler.updateWeights(adapter(1), stop.signal);
    await expect(update).rejects.toThrow('enough');
    await expect(update).rejects.not.toThrow(SamplerError);
    expect(sampler.policyVersion).toBe(0);
  });
});

describe('requests to a server', () => {
  it('ask for what the context has room for, with a seed of their own of 31 bits', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.sample({ ...request, maxTokens: 100 });
    const { sampling_params: sent } = server.asked.at(-1)!.body;
    const seed = RandomStream.named('remote sampler', 'test').integer(2 ** 31);
    expect(sent).toMatchObject({ max_tokens: 29, seed });
    await sampler.sample({ ...request, maxTokens: 5 });
    expect(server.asked.at(-1)!.body.sampling_params).toMatchObject({ max_tokens: 5, seed });
  });

  it('tell of each token, greedy ones too', async () => {
    const sampler = await create(new StubVllm());
    const told: unknown[] = [];
    const completions = await sampler.sample({
      ...request,
      temperature: 0,
      onToken: (event) => told.push(event),
    });
    expect(told).toEqual(
      completions.flatMap(({ tokens, behaviorLogprobs }, member) =>
        tokens.map((token, t) => ({ member, token, logprob: behaviorLogprobs[t] })),
      ),
    );
    await expect(sampler.sample({ ...request, temperature: 0.5 })).rejects.toThrow(
      'sample: this vLLM gives logprobs at temperature 1, got temperature 0.5; sample at 1, or start it',
    );
  });

  it('are not sent for a completion without tokens, and score at temperature 1 by default', async () => {
    const server = new StubVllm({ wholeLogprobs: true });
    const sampler = await create(server);
    const begun = server.asked.length;
    const [none] = await sampler.scoreTokens([{ prompt: [0], completion: [] }]);
    expect([none!.logprobs.length, none!.entropies.length, server.asked.length - begun]).toEqual([0, 0, 0]);
    const [scores] = await sampler.scoreTokens([scored]);
    expect(server.asked.at(-1)!.body).toMatchObject({ prompt_logprobs: 0, temperature: 1, max_tokens: 1 });
    expect([...scores!.entropies]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect([...scores!.logprobs]).toEqual(
      [5, 6, 7].map((last, t) => expect.closeTo(stubLogprobs('base', last)[scored.completion[t]!]!, 6)),
    );
    const partial = await create(new StubVllm());
    await expect(partial.scoreTokens([scored], { temperature: 2 })).rejects.toThrow(
      'scoreTokens: vLLM gives logprobs at temperature 1 only, got temperature 2; leave it out',
    );
  });

  it('reject with the reason of their signal, before and while the server is asked', async () => {
    const server = new StubVllm({ wholeLogprobs: true });
    const sampler = await create(server);
    const calls = [
      (signal: AbortSignal) => sampler.sample({ ...request, signal }),
      (signal: AbortSignal) => sampler.scoreTokens([scored], { signal }),
      (signal: AbortSignal) => sampler.scoreLogits([scored], { signal }),
      (signal: AbortSignal) => sampler.updateWeights(adapter(1), signal),
    ];
    for (const call of calls) {
      const begun = server.asked.length;
      server.fault = () => undefined;
      await expect(call(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
      expect(server.asked).toHaveLength(begun);
      const stop = new AbortController();
      server.fault = () => {
        stop.abort(new Error('enough'));
        return new Promise(() => undefined);
      };
      const asked = call(stop.signal);
      await expect(asked).rejects.toThrow('enough');
      await expect(asked).rejects.not.toThrow(SamplerError);
    }
  });
});
