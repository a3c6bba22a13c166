import type { Completion, TokenId } from '@rlp/core';
import { createModel, parseModelConfig } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { InferenceBackend } from './backend.ts';
import { createOnnxSampler } from './onnx-sampler.ts';
import type { OnnxSamplerOptions } from './onnx-sampler-options.ts';
import { tinyConfigs, tinyModel, tinyTokenizer } from './testing/tiny-models.ts';

let engine: Engine;

beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 1 });
});
afterAll(() => engine.close());

interface Said {
  readonly prompt: readonly TokenId[];
  readonly completion: Completion;
}

/** Conversations of three turns, all at once, with a system prompt in common. */
async function converse(backend: InferenceBackend, opening: readonly TokenId[], count = 4): Promise<Said[]> {
  const said = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const turns: Said[] = [];
      let prompt = [...opening, ...tinyTokenizer.encode('abcd'[index % 4]!, { specialTokens: 'none' })];
      for (const [turn, reply] of ['go on', 'and', ''].entries()) {
        const seed = `${index}, ${turn}`;
        const [completion] = await backend.sample({
          prompt,
          count: 1,
          maxTokens: 12 + index,
          seed,
          stopTokens: [],
        });
        turns.push({ prompt, completion: completion! });
        prompt = [
          ...prompt,
          ...completion!.tokens,
          ...tinyTokenizer.encode(reply, { specialTokens: 'none' }),
        ];
      }
      return turns;
    }),
  );
  return said.flat();
}

/** Checks conversations with everything kept against the same ones with nothing kept, and against the scorer. */
async function compareWithPlain(options: Partial<OnnxSamplerOptions>, opening: readonly TokenId[]) {
  const base = { engine, model: tinyModel(), maxSequences: 3, prefixCacheBytes: 2 ** 24, ...options };
  const kept = await createOnnxSampler(base);
  const plain = await createOnnxSampler({ ...base, prefixCacheBytes: 0 });
  const said = await converse(kept, opening);
  const expected = await converse(plain, opening);
  expect(said.map(({ completion }) => completion.tokens)).toEqual(
    expected.map(({ completion }) => completion.tokens),
  );
  const scores = await plain.scoreTokens(
    said.map(({ prompt, completion }) => ({ prompt, completion: completion.tokens })),
  );
  const worst = said.map(({ completion }, index) =>
    Math.max(
      ...completion.behaviorLogprobs.map((logprob, t) => Math.abs(logprob - scores[index]!.logprobs[t]!)),
    ),
  );
  expect(Math.max(...worst)).toBeLessThan(1e-5);
  await kept.close();
  await plain.close();
}

const opening = tinyTokenizer.encode('you are a helpful fox');

describe.each(Object.keys(tinyConfigs) as (keyof typeof tinyConfigs)[])(
  'a conversation with a tiny %s',
  (kind) => {
    it('samples what it samples without a cache across turns, at the probabilities that scoring gives', async () => {
      await compareWithPlain({ model: tinyModel(kind), store: kind }, opening);
    });
  },
);

describe('a conversation', () => {
  it.each([
    { name: 'standard operators', options: { operators: 'standard' } as const },
    { name: 'packed weights', options: { weights: 'packed' } as const },
    { name: 'memory for few blocks', options: { prefixCacheBytes: 5 * 16 * 512 } },
  ])('is the same with $name', async ({ options }) => {
    await compareWithPlain(options, opening);
  });

  it.each(['fused', 'standard'] as const)(
    'is the same with a prompt of several parts and %s operators',
    async (operators) => {
      const config = parseModelConfig({ ...tinyConfigs.mistral, max_position_embeddings: 640 }, 'long');
      const model = createModel({ config, tokenizer: tinyTokenizer, seed: 'long' });
      const long = Array.from({ length: 540 }, (_, at) => 3 + ((at * at) % 20));
      await compareWithPlain({ model, store: 'long', operators, contextLength: 640 }, long);
    },
  );

  it('follows weights that a trainer changes in place, published or not', async () => {
    const options = { engine, store: 'trained', maxSequences: 4, prefixCacheBytes: 2 ** 24 };
    const backend = await createOnnxSampler({ ...options, model: tinyModel('llama', 'before') });
    await converse(backend, opening, 2);
    const after = tinyModel('llama', 'after');
    await engine.writeStore('trained', after.weights);
    const fresh = await createOnnxSampler({ engine, model: after, store: 'fresh', maxSequences: 4 });
    const tokens = (said: readonly Said[]) => said.map(({ completion }) => completion.tokens);
    expect(tokens(await converse(backend, opening, 2))).toEqual(tokens(await converse(fresh, opening, 2)));
    await backend.close();
    await fresh.close();
  });
});
