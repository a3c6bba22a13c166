import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError, type Completion, SamplerError } from '@rlp/core';
import { describeInferenceEngine, describeSampler, describeTokenScorer } from '@rlp/core/testing';
import { saveModel, writeLoraAdapter } from '@rlp/models';
import { linearLayers } from '@rlp/models/decoder';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { beforeAll, describe, expect, it } from 'vitest';
import { copiedWeightBytes } from './copied-weights.ts';
import { prompt, request, Samplers, scoreRequests } from './onnx-sampler.fixture.ts';
import { createOnnxSampler } from './onnx-sampler.ts';
import type { OnnxSamplerOptions } from './onnx-sampler-options.ts';
import { tinyConfigs, tinyModel, tinyTokenizer } from './testing/tiny-models.ts';

const samplers = new Samplers();
const start = (options?: Partial<OnnxSamplerOptions>) => samplers.start(options);
let engine: Engine;
let folder: string;
beforeAll(() => {
  ({ engine, folder } = samplers);
});

const tokensOf = (completions: readonly Completion[]) => completions.map(({ tokens }) => tokens);

describe.each(['shared', 'packed', 'int8'] as const)('with %s weights', (weights) => {
  describeSampler('createOnnxSampler', {
    create: () => start({ weights }),
    prompt,
    tooLongPrompt: Array.from({ length: 65 }, () => 4),
  });

  describeInferenceEngine('createOnnxSampler', {
    create: () => start({ weights }),
    prompt,
    publication: (version) => ({ kind: 'shared', version, engine, store: 'policy' }),
    impossible: (version) => ({ kind: 'checkpoint', version, path: join(folder, 'absent') }),
  });
});

describeTokenScorer('createOnnxSampler', {
  create: () => start(),
  requests: scoreRequests,
  vocabularySize: tinyModel().config.vocabularySize,
});

describe.each(Object.keys(tinyConfigs) as (keyof typeof tinyConfigs)[])('a tiny %s', (kind) => {
  it('samples the same tokens with every kind of operators and weights, at the probabilities that scoring gives', async () => {
    const model = tinyModel(kind);
    const settings =
      model.config.headDimension % 8 === 0
        ? ([
            { operators: 'fused', weights: 'shared' },
            { operators: 'fused', weights: 'packed' },
            { operators: 'standard', weights: 'shared' },
          ] as const)
        : ([{ weights: 'shared' }] as const);
    const drawn: (readonly Completion[])[] = [];
    for (const options of settings) {
      const backend = await start({ model, store: kind, ...options });
      const completions = await backend.sample({ ...request, count: 5, temperature: 0.8 });
      const scores = await backend.scoreTokens(
        completions.map(({ tokens }) => ({ prompt, completion: tokens })),
        { temperature: 0.8 },
      );
      for (const [index, { behaviorLogprobs }] of completions.entries()) {
        expect([...scores[index]!.logprobs]).toEqual(
          behaviorLogprobs.map((logprob) => expect.closeTo(logprob, 4)),
        );
      }
      drawn.push(completions);
    }
    for (const completions of drawn) expect(tokensOf(completions)).toEqual(tokensOf(drawn[0]!));
  });
});

describe('createOnnxSampler', () => {
  it('gives a request what it gets alone, whatever else is in the batch', async () => {
    const backend = await start({ maxSequences: 6 });
    const prompts = ['once', 'a', 'the quick brown fox', 'upon a time', 'b. c. d.', 'zz', 'hello there', 'q'];
    const requests = prompts.map((text, index) => ({
      ...request,
      prompt: tinyTokenizer.encode(text),
      seed: `request ${index}`,
      maxTokens: 6 + index,
      topP: index % 2 === 0 ? 0.9 : 1,
      repetitionPenalty: index % 3 === 0 ? 1.2 : 1,
    }));
    const together = await Promise.all(requests.map((each) => backend.sample(each)));
    for (const [index, each] of requests.entries()) {
      const alone = await backend.sample(each);
      expect(tokensOf(together[index]!)).toEqual(tokensOf(alone));
    }
  });

  it('gives a group with one prefill what its members would get with their own', async () => {
    const backend = await start({ maxSequences: 3 });
    const standard = await start({ operators: 'standard', maxSequences: 16 });
    const group = { ...request, count: 9, seed: 'group' };
    expect(tokensOf(await backend.sample(group))).toEqual(tokensOf(await standard.sample(group)));
  });

  it('computes full logits whose softmax is the scored probability', async () => {
    const backend = await start();
    const [scores] = await backend.scoreTokens([scoreRequests[0]]);
    const [{ logits, vocabularySize }] = (await backend.scoreLogits([scoreRequests[0]])) as [
      { logits: Float32Array; vocabularySize: number },
    ];
    scoreRequests[0].completion.forEach((token, t) => {
      const row = logits.subarray(t * vocabularySize, (t + 1) * vocabularySize);
      const total = row.reduce((sum, logit) => sum + Math.exp(logit), 0);
      expect(row[token]! - Math.log(total)).toBeCloseTo(scores!.logprobs[t]!, 4);
      const entropy = row.reduce((sum, logit) => {
        const probability = Math.exp(logit) / total;
        return sum - probability * Math.log(probability);
      }, 0);
      expect(scores!.entropies[t]).toBeCloseTo(entropy, 4);
    });
  });

  it('penalizes tokens that came before by their logits', async () => {
    const backend = await start();
    const [completion] = await backend.sample({ ...request, temperature: 0, repetitionPenalty: 3 });
    const { tokens } = completion!;
    const [scored] = await backend.scoreLogits([{ prompt, completion: tokens }]);
    const { logits, vocabularySize } = scored!;
    for (const [t, token] of tokens.entries()) {
      const seen = new Set([...prompt, ...tokens.slice(0, t)]);
      const row = logits.slice(t * vocabularySize, (t + 1) * vocabularySize);
      const penalized = row.map((x, v) => (seen.has(v) ? (x > 0 ? x / 3 : x * 3) : x));
      expect(penalized[token]).toBeCloseTo(Math.max(...penalized), 4);
    }
  });

  it('cuts the text before a stop string and keeps the tokens that complete it', async () => {
    const backend = await start();
    const free = (await backend.sample({ ...request, maxTokens: 20 }))[0]!;
    const stop = free.text.slice(4, 6);
    const stopped = (await backend.sample({ ...request, maxTokens: 20, stopStrings: [stop] }))[0]!;
    expect(stopped.text).toBe(free.text.slice(0, free.text.indexOf(stop)));
    expect(stopped.tokens).toEqual(free.tokens.slice(0, free.text.indexOf(stop) + 2));
    expect(stopped.behaviorLogprobs).toHaveLength(stopped.tokens.length);
    expect(stopped.stopReason).toBe('stop');
  });

  it('stops at the context limit', async () => {
    const backend = await start({ contextLength: 8 });
    const [completion] = await backend.sample({ ...request, maxTokens: 50, stopTokens: [] });
    expect(completion!.tokens.length).toBeLessThanOrEqual(8 - prompt.length);
  });

  it('rejects while it runs when aborted, and goes on serving others', async () => {
    const backend = await start();
    const controller = new AbortController();
    const aborted = backend.sample({
      ...request,
      count: 8,
      maxTokens: 50,
      signal: controller.signal,
      onToken: () => controller.abort(new Error('enough')),
    });
    const other = backend.sample(request);
    await expect(aborted).rejects.toThrow('enough');
    expect(await other).toHaveLength(1);
  });

  it.each(['scoreTokens', 'scoreLogits'] as const)(
    'stops %s between two batches when aborted',
    async (method) => {
      const backend = await start({ scoreTokens: 1 });
      const stop = new AbortController();
      const requests = Array.from({ length: 200 }, () => scoreRequests[0]);
      const scoring = backend[method](requests, { signal: stop.signal });
      setImmediate(() => stop.abort(new Error('enough')));
      await expect(scoring).rejects.toThrow('enough');
      expect(await backend[method]([scoreRequests[1]])).toHaveLength(1);
    },
  );

  it('takes over the weights of a checkpoint', async () => {
    const next = tinyModel('llama', 'other');
    await saveModel(join(folder, 'next'), next);
    const expected = tokensOf(await (await start({ model: next, store: 'expected' })).sample(request));
    for (const weights of ['shared', 'packed'] as const) {
      const backend = await start({ store: `checkpoint ${weights}`, weights });
      expect(tokensOf(await backend.sample(request))).not.toEqual(expected);
      await backend.updateWeights({ kind: 'checkpoint', version: 4, path: join(folder, 'next') });
      const [completion] = await backend.sample(request);
      expect([completion!.tokens]).toEqual(expected);
      expect(completion!.policyVersion).toBe(4);
    }
  });

  it('says why it cannot take over a checkpoint', async () => {
    const backend = await start();
    const absent = { kind: 'checkpoint', version: 1, path: join(folder, 'absent') } as const;
    const update = backend.updateWeights(absent);
    await expect(update).rejects.toThrow(SamplerError);
    await expect(update).rejects.toThrow(/^updateWeights: the checkpoint cannot be taken over: .*absent/);
  });

  it('takes over adapters one after the other, each on the weights that it began with', async () => {
    const model = tinyModel();
    const { config } = model;
    const written = async (name: string, match: RegExp, size: number) => {
      const layers = linearLayers(config)
        .filter(({ weight }) => match.test(weight))
        .map((layer) => {
          const [outputs, inputs] = model.weights.get(layer.weight)!.shape as [number, number];
          const filled = (shape: [number, number]) => ({
            shape,
            data: Float32Array.from({ length: shape[0] * shape[1] }, (_, i) => size * Math.sin(i)),
          });
          return { layer, down: filled([1, inputs]), up: filled([outputs, 1]) };
        });
      const path = join(folder, name);
      await mkdir(path);
      const settings = { variant: 'lora', rank: 1, alpha: 1, scaling: 'rank', dropout: 0 } as const;
      const rest = { baseModel: undefined, modulesToSave: [], modules: new Map() };
      await writeLoraAdapter(path, { ...settings, ...rest, layers }, config);
      return path;
    };
    const paths = [await written('one', /q_proj|v_proj/, 1.5), await written('two', /o_proj/, 1.2)];
    const backend = await start({ store: 'adapted' });
    const drawn = async () => tokensOf(await backend.sample({ ...request, count: 4 }));
    const before = await drawn();
    const adapted: unknown[] = [];
    for (const [version, path] of [paths[0]!, paths[1]!, paths[0]!].entries()) {
      expect(await backend.updateWeights({ kind: 'adapter', version, path })).toBe(version);
      adapted.push(await drawn());
    }
    expect(adapted[0]).not.toEqual(before);
    expect(adapted[1]).not.toEqual(adapted[0]);
    expect(adapted[2]).toEqual(adapted[0]);
    const foreign = backend.updateWeights({ kind: 'adapter', version: 4, path: join(folder, 'absent') });
    await expect(foreign).rejects.toThrow(SamplerError);
    await expect(foreign).rejects.toThrow(/the adapter cannot be taken over: .*adapter_config.json/);
  });

  it('says how much memory sequences take, running and kept', async () => {
    const { layers, keyValueHeads, headDimension } = tinyModel().config;
    const position = 2 * 4 * layers * keyValueHeads * headDimension;
    const backend = await start({ maxSequences: 3, prefixCacheBytes: 5 * position });
    expect(backend.cacheBytes!(1)).toBe(6 * position);
    expect(backend.cacheBytes!(10)).toBe(35 * position);
    expect(backend.cacheBytes!(10, 2)).toBe(25 * position);
    expect(backend.cacheBytes!(10, 99)).toBe(35 * position);
    expect(backend.cacheBytes!(1000)).toBe((3 * 64 + 5) * position);
  });

  it('says how much memory its own copy of the weights takes', async () => {
    const { config, weights } = tinyModel();
    const all = [...weights.values()].reduce((sum, { data }) => sum + data.byteLength, 0);
    const bytesOf = async (placement: 'shared' | 'packed') =>
      (await start({ weights: placement })).weightBytes;
    expect([await bytesOf('shared'), await bytesOf('packed')]).toEqual([0, all]);
    expect(copiedWeightBytes(config, 'float16')).toBe(0);
    const wide = { ...config, hiddenSize: 256, heads: 32, keyValueHeads: 32, intermediateSize: 512 };
    const share = copiedWeightBytes(wide, 'int8') / copiedWeightBytes(wide, 'packed');
    expect(share).toBeGreaterThan(1 / 4);
    expect(share).toBeLessThan(1 / 2);
  });

  it('reads a shared store in place', async () => {
    const backend = await start({ store: 'trained' });
    const before = tokensOf(await backend.sample(request));
    await engine.writeStore('trained', tinyModel('llama', 'other').weights);
    await backend.updateWeights({ kind: 'shared', version: 1, engine, store: 'trained' });
    expect(tokensOf(await backend.sample(request))).not.toEqual(before);
    const foreign = backend.updateWeights({ kind: 'shared', version: 2, engine, store: 'policy' });
    await expect(foreign).rejects.toThrow(SamplerError);
    await expect(foreign).rejects.toThrow(
      'updateWeights: weights were published in store "policy", but this sampler reads "trained"; give both the same store',
    );
    const elsewhere = backend.updateWeights({ kind: 'shared', version: 2, engine: {}, store: 'trained' });
    await expect(elsewhere).rejects.toThrow(
      "updateWeights: weights were published in another engine; create sampler and backend in one, or publish as 'checkpoint'",
    );
    expect(backend.policyVersion).toBe(1);
  });

  it('says what does not fit', async () => {
    const backend = await start();
    await expect(backend.sample({ ...request, prompt: [] })).rejects.toThrow('the prompt is empty');
    await expect(backend.sample({ ...request, prompt: [999] })).rejects.toThrow('token 999 is outside');
    await expect(backend.sample({ ...request, prompt: [0.5] })).rejects.toThrow(/^sample: invalid options/);
    await expect(start({ contextLength: 100 })).rejects.toThrow(ArgumentError);
    for (const another of [tinyModel('qwen3'), tinyModel('llama', 'other')]) {
      await expect(start({ model: another })).rejects.toThrow('created with the weights of another model');
    }
    const config = { ...tinyModel().config, contextLength: 2 ** 31 };
    const boundless = { model: { ...tinyModel(), config }, contextLength: 2 ** 31, store: 'boundless' };
    await expect(start(boundless)).rejects.toThrow(
      'cache of 16 sequences of 2147483648 tokens takes 8192.0 GiB, which could not be allocated; lower maxSequences',
    );
    const hollow = { ...tinyModel(), weights: new Map() };
    await expect(start({ model: hollow, store: 'hollow' })).rejects.toThrow(
      '"model.embed_tokens.weight" is missing',
    );
    await expect(start({ engine: 'cpu' as never, model: null as never })).rejects.toThrow(
      /engine: must be an engine from createEngine[\s\S]*model: must be a model/,
    );
    await expect(start({ maxSequences: 0, weights: 'baked' as never })).rejects.toThrow(
      /maxSequences[\s\S]*weights/,
    );
    await expect(
      start({ model: tinyModel('llama, small heads'), operators: 'fused', store: 'small' }),
    ).rejects.toThrow('multiple of 8');
  });

  it('refuses temperatures that float32 cannot divide by', async () => {
    const backend = await start();
    await expect(backend.sample({ ...request, temperature: 1e-40 })).rejects.toThrow(
      /temperature: must be 0/,
    );
    await expect(backend.scoreTokens(scoreRequests, { temperature: 1e-40 })).rejects.toThrow(ArgumentError);
  });

  it('refuses a store with other parameters, although the same weights made it', async () => {
    const model = tinyModel();
    await start({ model, store: 'layers' });
    const deeper = { ...model, config: { ...model.config, layers: 3 } };
    await expect(start({ model: deeper, store: 'layers' })).rejects.toThrow(
      'store "layers" does not hold this model: expected "model.layers.2.input_layernorm.weight" of [16], got none',
    );
    const wider = { ...model, config: { ...model.config, vocabularySize: 40 } };
    await expect(start({ model: wider, store: 'layers' })).rejects.toThrow(
      'expected "model.embed_tokens.weight" of [40, 16], got [32, 16]',
    );
  });

  it('has scores and logits of nothing for a completion without tokens', async () => {
    const backend = await start();
    const [{ completion: _completion, ...empty }, full] = scoreRequests;
    const requests = [{ ...empty, completion: [] }, full];
    const [none, some] = await backend.scoreLogits(requests);
    expect(none).toEqual({ logits: new Float32Array(), vocabularySize: 32 });
    expect(some!.logits).toHaveLength(32 * full.completion.length);
    const [scores] = await backend.scoreTokens(requests);
    expect(scores).toEqual({ logprobs: new Float32Array(), entropies: new Float32Array() });
    expect(await backend.scoreLogits([])).toEqual([]);
  });

  it('tells its program to end a completion that met a stop string, and asks for no events without need', async () => {
    const calls: (readonly [string, unknown])[] = [];
    const watched = new Proxy(engine, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target);
        if (name !== 'start') return typeof member === 'function' ? member.bind(target) : member;
        return async (...given: Parameters<Engine['start']>) => {
          const program = await target.start(...given);
          const call: typeof program.call = (method, argument, options) => {
            calls.push([String(method), argument]);
            return program.call(method, argument, options);
          };
          return { call, stop: () => program.stop() };
        };
      },
    });
    const backend = await start({ engine: watched });
    await backend.sample(request);
    const free = (await backend.sample({ ...request, maxTokens: 20, onToken: () => undefined }))[0]!;
    await backend.sample({ ...request, maxTokens: 20, stopStrings: [free.text.slice(4, 6)] });
    const asked = calls.map(([method, argument]) => [method, argument as Record<string, unknown>] as const);
    expect(asked.flatMap(([method, { events } = {}]) => (method === 'generate' ? [events] : []))).toEqual([
      ...['none', 'tokens', 'tokens'],
    ]);
    expect(asked.filter(([method]) => method === 'finish')).toEqual([['finish', { id: 2, member: 0 }]]);
    expect(asked.filter(([method]) => method === 'begin')).toHaveLength(3);
    expect(asked.find(([method]) => method === 'generate')![1].request).not.toHaveProperty('stopStrings');
  });

  it('reports the tokens up to a stop string, and no later ones', async () => {
    const backend = await start();
    const free = (await backend.sample({ ...request, maxTokens: 20 }))[0]!;
    const told: number[] = [];
    const onToken = ({ token }: { readonly token: number }) => void told.push(token);
    const stop = free.text.slice(4, 6);
    const stopped = (await backend.sample({ ...request, maxTokens: 20, stopStrings: [stop], onToken }))[0]!;
    expect(told).toEqual(stopped.tokens);
  });

  it('neither samples nor scores with weights that are not finite', async () => {
    const backend = await start({ store: 'damaged' });
    const [name, { shape, data }] = [...tinyModel().weights].at(-1)!;
    await engine.writeStore('damaged', new Map([[name, { shape, data: data.map(() => Number.NaN) }]]));
    await expect(backend.sample(request)).rejects.toThrow(/distribution is not finite/);
    const scores = backend.scoreTokens(scoreRequests);
    await expect(scores).rejects.toThrow(SamplerError);
    await expect(scores).rejects.toThrow(
      /^scoreTokens: the model's logprobs are not finite; its weights have diverged or are damaged; go back/,
    );
  });

  it('rejects what is running when its engine closes', async () => {
    const own = await createEngine({ thread: 'inline', threads: 1 });
    const backend = await createOnnxSampler({ engine: own, model: tinyModel() });
    let closing: Promise<void> | undefined;
    const running = backend.sample({
      ...request,
      count: 4,
      maxTokens: 50,
      onToken: () => {
        closing ??= own.close();
      },
    });
    await expect(running).rejects.toThrow(SamplerError);
    await expect(running).rejects.toThrow(/^sample: \S/);
    await closing;
    await expect(backend.scoreTokens(scoreRequests)).rejects.toThrow(/^scoreTokens: \S/);
    await expect(backend.scoreLogits(scoreRequests)).rejects.toThrow(/^scoreLogits: \S/);
    const shared = { kind: 'shared', version: 1, engine: own, store: 'policy' } as const;
    await expect(backend.updateWeights(shared)).rejects.toThrow(/^updateWeights: \S/);
    expect(backend.policyVersion).toBe(0);
  });
});
