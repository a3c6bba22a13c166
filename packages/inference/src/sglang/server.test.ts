import type { Fetch } from '@rlp/http/client';
import { characterTokenizer } from '@rlp/models';
import { expect, it } from 'vitest';
import { createSglangSampler } from '../sglang.ts';

const tokenizer = characterTokenizer('abcdefghijklmn', { begin: '<s>', end: '</s>' });
const request = { prompt: [0, 5], count: 8, maxTokens: 1, seed: 'a' };

interface Asked {
  readonly seed: number;
  readonly signal: AbortSignal;
}

interface Sent {
  readonly input_ids?: readonly number[];
  readonly sampling_params?: { readonly sampling_seed?: number };
}

/** A sampler whose server answers the sampling of a group as the test says. */
async function sampling(answer: (asked: Asked, position: number) => number | Promise<number>) {
  const asked: Asked[] = [];
  let isReady = false;
  const fetch: Fetch = async (url, { body, signal }) => {
    const path = new URL(url).pathname;
    const { input_ids, sampling_params } = JSON.parse(body ?? '{}') as Sent;
    const seed = sampling_params?.sampling_seed;
    const [status, token] =
      path === '/generate' && isReady
        ? [await answer(asked[asked.push({ seed: seed!, signal }) - 1]!, asked.length - 1), seed! % 10]
        : [200, 5];
    const meta_info = {
      output_token_logprobs: [[-1, token]],
      input_token_logprobs: input_ids?.map((one, t) => [t === 0 ? null : -1, one]),
      finish_reason: { type: 'length' },
    };
    const described = { '/get_model_info': { model_path: '/m' }, '/get_server_info': { context_length: 32 } };
    const found = (described as Record<string, unknown>)[path] ?? { meta_info };
    return { status, headers: { get: () => null }, text: async () => JSON.stringify(found) };
  };
  const backoff = { firstMs: 1, longestMs: 2 };
  const sampler = await createSglangSampler({ url: 'http://server.test', tokenizer, fetch, backoff });
  isReady = true;
  return { sampler, asked };
}

it('asks again only for the members of a group that failed, and keeps the others', async () => {
  const { sampler, asked } = await sampling((_, position) => (position === 3 ? 503 : 200));
  const completions = await sampler.sample(request);
  expect(asked).toHaveLength(9);
  expect(asked[8]!.seed).toBe(asked[3]!.seed);
  expect(completions.map(({ tokens }) => tokens[0])).toEqual(asked.slice(0, 8).map(({ seed }) => seed % 10));
  expect(asked.filter(({ signal }) => signal.aborted)).toEqual([asked[3]]);
});

it('ends the requests of a group if one of them is refused', async () => {
  const never = new Promise<number>(() => undefined);
  const { sampler, asked } = await sampling((_, position) => (position === 3 ? 400 : never));
  await expect(sampler.sample(request)).rejects.toThrow('400');
  expect(asked).toHaveLength(8);
  expect(asked.every(({ signal }, position) => position === 3 || signal.aborted)).toBe(true);
});
