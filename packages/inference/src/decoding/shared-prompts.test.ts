import type { Completion } from '@rlp/core';
import { createModel, type LanguageModel, parseModelConfig } from '@rlp/models';
import { createEngine } from '@rlp/onnx/web';
import { describe, expect, it, vi } from 'vitest';
import { Samplers } from '../onnx-sampler.fixture.ts';
import type { OnnxSamplerOptions } from '../onnx-sampler-options.ts';
import { tinyConfigs, tinyTokenizer } from '../testing/tiny-models.ts';
import { KeyValueCache } from './cache.ts';
import { SharedPrompts } from './shared-prompts.ts';

const samplers = new Samplers();
const isCut = ([, config]: readonly [string, object]) => 'sliding_window' in config;
const kinds = Object.entries(tinyConfigs).filter((kind) => !isCut(kind));
const text = 'once upon a time there was a quick brown fox. it jumped over the lazy dog and went home. ';
const prompt = (length: number, from = 0) =>
  Array.from({ length }, (_, index) => tinyTokenizer.encode(text[(from + index) % text.length]!).at(-1)!);

/** Groups with prompts of several lengths, and rows that share none: 33 completions. */
const requests = [
  { prompt: prompt(130), count: 6, maxTokens: 9 },
  { prompt: prompt(96, 3), count: 8, maxTokens: 20 },
  { prompt: prompt(20), count: 6, maxTokens: 25 },
  { prompt: prompt(97, 7), count: 5, maxTokens: 14 },
  { prompt: prompt(110, 1), count: 1, maxTokens: 30 },
  { prompt: prompt(105, 5), count: 3, maxTokens: 6 },
  { prompt: prompt(131, 2), count: 4, maxTokens: 12 },
].map((each, index) => ({ ...each, seed: `${index}`, temperature: 0.9 }));

async function start(
  kind: keyof typeof tinyConfigs,
  options: Partial<OnnxSamplerOptions>,
  damage = (_: LanguageModel) => {},
) {
  const positions = { max_position_embeddings: 320, n_positions: 320 };
  const config = parseModelConfig(JSON.parse(JSON.stringify({ ...tinyConfigs[kind], ...positions })), kind);
  const model = createModel({ config, tokenizer: tinyTokenizer, seed: kind });
  damage(model);
  const store = `${kind} ${damage.name} ${Object.values(options).join()}`;
  return samplers.start({ model, store, weights: 'shared', maxSequences: 64, ...options });
}

type Sampler = Awaited<ReturnType<typeof start>>;
const together = (sampler: Sampler) =>
  Promise.all(requests.map((request) => sampler.sample({ ...request, stopTokens: [4, 5] })));

function expectSame(
  actual: readonly (readonly Completion[])[],
  expected: readonly (readonly Completion[])[],
) {
  for (const [index, completions] of actual.entries()) {
    for (const [member, { tokens, behaviorLogprobs }] of completions.entries()) {
      const known = expected[index]![member]!;
      expect(tokens).toEqual(known.tokens);
      expect(behaviorLogprobs).toEqual(known.behaviorLogprobs.map((value) => expect.closeTo(value, 4)));
    }
  }
}

// Samplers with built-in weights compute the attention of all tokens of a prompt at once.
it.each([
  ...Object.entries(tinyConfigs)
    .filter(isCut)
    .map(([kind]) => kind),
  'llama',
  'llama, kernel rotation',
])('tokens of long prompts that attend in parts give the same distributions in a tiny %s', async (kind) => {
  // The last one is computed in two steps of 256 and 41 tokens, and the one before has parts of 24 and 25.
  const prompts = [95, 96, 99, 297].map((length) => prompt(length, length));
  const sampled = async (weights: 'packed' | 'shared') => {
    const sampler = await start(kind as keyof typeof tinyConfigs, { weights });
    return Promise.all(
      prompts.map((prompt, index) =>
        sampler.sample({ prompt, count: 2, maxTokens: 12, seed: `${index}`, stopTokens: [] }),
      ),
    );
  };
  expectSame(await sampled('shared'), await sampled('packed'));
});

// WebAssembly refuses inputs that a graph does not have, and copies the cache after each part.
it('tokens of long prompts attend in parts in WebAssembly', async () => {
  const engine = await createEngine({ threads: 1 });
  try {
    const sampled = async (weights: 'packed' | 'shared') => {
      const sampler = await start('llama', { weights, engine });
      return [await sampler.sample({ prompt: prompt(99), count: 2, maxTokens: 12, seed: 'web' })];
    };
    expectSame(await sampled('shared'), await sampled('packed'));
  } finally {
    await engine.close();
  }
});

describe('rows that share a prompt are sampled as if each had its own', () => {
  it.each(kinds.map(([kind]) => kind as keyof typeof tinyConfigs))('in a tiny %s', async (kind) => {
    // Samplers with built-in weights copy prompts.
    const expected = await together(await start(kind, { weights: 'packed' }));
    expectSame(await together(await start(kind, {})), expected);
  });

  it('if there are fewer rows than completions, so that rows move and late ones begin from others', async () => {
    const expected = await together(await start('llama', { weights: 'packed' }));
    expectSame(await together(await start('llama', { maxSequences: 9 })), expected);
    expectSame(await together(await start('llama', { maxSequences: 17 })), expected);
  });

  it('if beginnings are kept for later prompts, which continue what was sampled', async () => {
    const expected = await start('llama', { weights: 'packed', prefixCacheBytes: 0 });
    const kept = await start('llama', { prefixCacheBytes: 2 ** 22 });
    const turns = async (sampler: Sampler) => {
      const first = await together(sampler);
      const second = await Promise.all(
        requests.map((request, index) =>
          sampler.sample({ ...request, prompt: [...request.prompt, ...first[index]!.at(-1)!.tokens] }),
        ),
      );
      // Continues completions of rows that shared their prompts, which were kept in the second turn.
      const third = await Promise.all(
        requests.map((request, index) => {
          const before = [...first[index]!.at(-1)!.tokens, ...second[index]!.at(-1)!.tokens];
          return sampler.sample({ ...request, prompt: [...request.prompt, ...before, 7] });
        }),
      );
      return [...first, ...second, ...third];
    };
    expectSame(await turns(kept), await turns(expected));
  });

  it('if a row that shared its prompt begins anew, with a beginning that is known', async () => {
    const sampler = await start('llama', { prefixCacheBytes: 2 ** 22 });
    const first = await sampler.sample(requests[4]!);
    await sampler.sample(requests[0]!);
    expectSame([await sampler.sample(requests[4]!)], [first]);
  });

  it('if another request comes to numbers that are not finite, which fails alone', async () => {
    const few = (length: number) => Array.from({ length }, (_, index) => 6 + (index % 3));
    const group = { ...requests[0]!, prompt: few(100), count: 4, temperature: 2 };
    const single = { ...requests[4]!, prompt: few(40), maxTokens: 12 };
    const plain = await start('llama, kernel rotation', { weights: 'packed' });
    const [[first, ...others], expected] = await Promise.all([plain.sample(group), plain.sample(single)]);
    const elsewhere = [...group.prompt, ...single.prompt, ...expected[0]!.tokens];
    const token = first!.tokens.find(
      (each, at) =>
        !elsewhere.includes(each) && others.every(({ tokens }) => !tokens.slice(0, at + 1).includes(each)),
    )!;
    expect(token).toBeDefined();
    const damaged = await start('llama, kernel rotation', {}, function damaged(model) {
      const { data } = model.weights.get('model.embed_tokens.weight')!;
      const width = model.config.hiddenSize;
      (data as Float32Array).fill(Number.NaN, token * width, (token + 1) * width);
    });
    const [failed, kept] = await Promise.allSettled([damaged.sample(group), damaged.sample(single)]);
    expect(failed).toMatchObject({ status: 'rejected', reason: { message: /is not finite/ } });
    expectSame([(kept as PromiseFulfilledResult<Completion[]>).value], [expected]);
  });

  it('if the last one goes on alone and guesses', async () => {
    const alone = { prompt: prompt(100), count: 4, seed: 'alone', temperature: 0.6, maxTokens: 100 };
    const sample = (sampler: Sampler) => sampler.sample({ ...alone, stopTokens: [4, 5] });
    const expected = await sample(await start('llama', { weights: 'packed', promptLookup: 0 }));
    expect(new Set(expected.map(({ tokens }) => tokens.length)).size).toBeGreaterThan(1);
    expectSame([await sample(await start('llama', { promptLookup: 4 }))], [expected]);
  });
});

describe('prompts that rows share', () => {
  const config = parseModelConfig(tinyConfigs.llama, 'test');
  /** Ten rows in which every number differs. */
  const filled = (positions = 200) => {
    const cache = new KeyValueCache(config, 10, positions);
    for (const [index, array] of [...cache.keys, ...cache.values].entries()) {
      for (let at = 0; at < array.length; at++) array[at] = 100_000 * (index + 1) + at;
    }
    return { cache, shared: new SharedPrompts(cache) };
  };
  /** The first positions of a row, in every array. */
  const positionsOf = (cache: KeyValueCache, row: number, length: number) => {
    const block = new Float32Array((length * cache.positionBytes) / 4);
    cache.moveBlock('save', row, 0, block);
    return block;
  };
  const lengths = (count: number, length: number) => new Array<number>(count).fill(length);

  it('come back, with what followed them in the row that they were taken from', () => {
    const { cache, shared } = filled();
    const before = positionsOf(cache, 2, 180);
    expect(shared.share(2, 3, 3, 100)).toBe(true);
    for (const row of [2, 3, 4, 5]) shared.restore(row);
    expect(positionsOf(cache, 2, 180)).toEqual(before);
    expect(positionsOf(cache, 4, 100)).toEqual(positionsOf(filled().cache, 2, 100));
    expect(shared.step(lengths(10, 100))).toBeUndefined();
  });

  it('come back for a copy that ends within them', () => {
    const { cache, shared } = filled();
    shared.share(2, 3, 3, 100);
    shared.copyRow(3, 7, 50);
    const whole = positionsOf(filled().cache, 2, 100);
    expect(positionsOf(cache, 3, 100)).toEqual(whole);
    expect(positionsOf(cache, 7, 50)).toEqual(positionsOf(filled().cache, 2, 50));
    expect(shared.step(lengths(8, 100))!.held).toEqual([100, 100, 1, 100, 1, 1, 100, 100]);
  });

  it.each([
    ['short', 95, 9],
    ['of few rows', 100, 2],
  ])('are none if they are %s', (_, length, count) => {
    expect(filled().shared.share(0, 1, count, length)).toBe(false);
  });

  it('are shared by later rows, however few, and only with their own length', () => {
    const { shared } = filled();
    shared.share(0, 1, 3, 96);
    expect(shared.share(2, 4, 1, 96)).toBe(true);
    expect(shared.share(2, 5, 1, 99)).toBe(false);
    const { feeds, held } = shared.step(lengths(6, 102))!;
    expect(held).toEqual([7, 7, 7, 7, 7, 102]);
    expect(feeds.members).toMatchObject({ dims: [1, 5], data: BigInt64Array.of(0n, 1n, 2n, 3n, 4n) });
    expect([...(feeds.shares!.data as Uint8Array)]).toEqual([1, 1, 1, 1, 1, 0]);
  });

  it('are copied if memory is full, and shared again later', () => {
    const { cache, shared } = filled();
    shared.share(0, 1, 3, 100);
    const before = positionsOf(cache, 4, 180);
    vi.stubGlobal('Float32Array', function full() {
      throw new RangeError('Array buffer allocation failed');
    });
    try {
      expect(shared.share(4, 5, 3, 130)).toBe(false);
    } finally {
      vi.unstubAllGlobals();
    }
    expect(positionsOf(cache, 4, 180)).toEqual(before);
    expect(shared.step(lengths(8, 130))!.feeds['prompt_key.0']!.dims).toEqual([1, 2, 128, 8]);
    expect(shared.share(4, 5, 3, 130)).toBe(true);
    for (const row of [1, 4]) shared.restore(row);
    expect(positionsOf(cache, 4, 180)).toEqual(before);
    expect(positionsOf(cache, 1, 100)).toEqual(positionsOf(filled().cache, 0, 100));
  });

  it('take no room for as many long ones as there were short ones', () => {
    const { shared } = filled(400);
    shared.share(0, 3, 3, 96);
    shared.share(1, 6, 3, 96);
    for (const row of [0, 1, 3, 4, 5, 6, 7, 8]) shared.release(row);
    shared.share(0, 3, 3, 300);
    const key = shared.step(lengths(6, 300))!.feeds['prompt_key.0']!;
    expect((key.data as Float32Array).buffer.byteLength).toBe(4 * 2 * 320 * 8);
  });

  it('take the memory of the longest, and hide what longer ones have left behind', () => {
    const { cache, shared } = filled(400);
    const strideOf = () => shared.step(lengths(7, 350))!.feeds.prompt_mask!.dims[3];
    const end = (row: number) => {
      for (const each of [row, 4, 5, 6]) shared.release(each);
    };
    for (const array of [...cache.keys, ...cache.values]) array.fill(Number.NaN, 0, 1000);
    shared.share(0, 4, 3, 300);
    expect(strideOf()).toBe(320);
    end(0);
    shared.share(1, 4, 3, 170);
    expect(strideOf()).toBe(320);
    const { feeds } = shared.step(lengths(7, 170))!;
    expect(feeds['prompt_key.0']!.dims).toEqual([1, 2, 320, 8]);
    expect((feeds['prompt_key.0']!.data as Float32Array).some(Number.isNaN)).toBe(false);
    end(1);
    shared.share(2, 4, 3, 96);
    expect(strideOf()).toBe(128);
  });
});
