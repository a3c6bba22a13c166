import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { StubVllm, stubLogprobs } from '../testing/stub-vllm.ts';
import { createVllmSampler } from '../vllm.ts';

const tokenizer = characterTokenizer('abcdefghijklmn', { begin: '<s>', end: '</s>' });
const request = { prompt: [0, 5, 6], count: 2, maxTokens: 4, seed: 'test' };
const checkpoint = (version: number) =>
  ({ kind: 'checkpoint', version, path: `/weights/${version}` }) as const;
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A sampler whose server holds its reload until it is opened. */
async function loading(path: string) {
  const server = new StubVllm({ generate: false });
  const { fetch } = server;
  const sampler = await createVllmSampler({ url: 'http://server.test', tokenizer, fetch, attempts: 1 });
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  server.fault = (asked, _, answer) => (asked === '/collective_rpc' ? opened.then(() => answer) : undefined);
  const update = sampler.updateWeights({ ...checkpoint(1), path });
  await settled();
  const sent = () => server.asked.filter((one) => one.path === '/v1/completions').length;
  return { sampler, open, update, sent, before: sent() };
}

describe('a request while a checkpoint is loaded', () => {
  it('waits, so that its answer has the version of the weights that sampled it', async () => {
    const { sampler, open, update, sent, before } = await loading('/weights/1');
    const sampling = sampler.sample(request);
    await settled();
    expect(sent()).toBe(before);
    open();
    await update;
    for (const { tokens, behaviorLogprobs, policyVersion } of await sampling) {
      expect(policyVersion).toBe(1);
      expect(behaviorLogprobs[0]).toBe(stubLogprobs('/weights/1', 6)[tokens[0]!]);
    }
  });

  it('is sent with the old weights if loading fails', async () => {
    const { sampler, open, update, sent, before } = await loading('/weights/missing');
    const sampling = sampler.sample(request);
    open();
    await expect(update).rejects.toThrow('No such directory');
    expect((await sampling)[0]!.policyVersion).toBe(0);
    expect(sent()).toBe(before + 1);
  });

  it('ends with its signal', async () => {
    const { sampler, open, update } = await loading('/weights/1');
    const controller = new AbortController();
    const sampling = sampler.sample({ ...request, signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(sampling).rejects.toThrow('enough');
    open();
    await update;
  });

  it('is asked again if the new weights answered it, which the server was started without', async () => {
    const server = new StubVllm();
    const { fetch: answered } = server;
    let isHeld = false;
    const fetch: typeof answered = async (url, init) => {
      while (isHeld && url.endsWith('/inference/v1/generate')) await settled();
      return answered(url, init);
    };
    const backoff = { firstMs: 1, longestMs: 2 };
    const sampler = await createVllmSampler({ url: 'http://server.test', tokenizer, fetch, backoff });
    isHeld = true;
    const sampling = sampler.sample(request);
    await sampler.updateWeights(checkpoint(1));
    isHeld = false;
    expect((await sampling).map(({ policyVersion }) => policyVersion)).toEqual([1, 1]);
  });
});
