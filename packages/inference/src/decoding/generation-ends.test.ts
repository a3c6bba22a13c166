import { describe, expect, it } from 'vitest';

import { FakeDecoder } from '../testing/fake-decoder.ts';
import { alone, request, start, untroubled } from './generation-loop.fixture.ts';

describe('GenerationLoop, ending what runs', () => {
  it('keeps the reason of a completion that had ended, and ignores members that do not run', async () => {
    const loop = start(new FakeDecoder(2));
    let tokens = 0;
    const observer = {
      signal: new AbortController().signal,
      onToken: () => {
        loop.finish(undefined, 0);
        loop.finish(observer, 7);
        if (++tokens === 3) loop.finish(observer, 0);
      },
    };
    const { sequences } = await loop.submit(request({ maxTokens: 3, stopTokens: [] }), observer);
    expect(sequences[0]).toMatchObject({ stopReason: 'length', tokens: { length: 3 } });
  });

  it('does not begin a request that was aborted before', async () => {
    const decoder = new FakeDecoder(2);
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(start(decoder).submit(request(), { signal })).rejects.toThrow('too late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(decoder.prefilled).toBe(0);
  });

  it('drops the prompt of an aborted request, and computes those behind it', async () => {
    const loop = start(new FakeDecoder(8));
    // Four prompts of four tokens are computed at once. The fifth and sixth are promised a row.
    const prompts = [0, 1, 2, 3, 4, 5].map((token) => [token, 1, 2, 3]);
    const stop = new AbortController();
    const groups = prompts.map((prompt, index) =>
      loop.submit(request({ prompt }), {
        signal: index === 4 ? stop.signal : new AbortController().signal,
        onToken: () => stop.abort(new Error('enough')),
      }),
    );
    await expect(groups[4]).rejects.toThrow('enough');
    expect(await groups[5]).toEqual(await alone(request({ prompt: prompts[5]! })));
    expect(await groups[0]).toEqual(await alone(request({ prompt: prompts[0]! })));
  });

  it('begins the next long prompt anew where one was aborted half way', async () => {
    const decoder = new FakeDecoder(3, 1000);
    const loop = start(decoder);
    const long = (shift: number) => Array.from({ length: 600 }, (_, at) => (at + shift) % 3);
    const stop = new AbortController();
    const running = loop.submit(request({ maxTokens: 12, stopTokens: [] }), {
      signal: new AbortController().signal,
      onToken: () => {
        if (decoder.extended.length === 1) stop.abort(new Error('enough'));
      },
    });
    const aborted = loop.submit(request({ prompt: long(0), maxTokens: 2 }), { signal: stop.signal });
    const other = loop.submit(request({ prompt: long(1), maxTokens: 2 }), untroubled());
    await expect(aborted).rejects.toThrow('enough');
    const [expected] = (
      await start(new FakeDecoder(1, 1000)).submit(request({ prompt: long(1), maxTokens: 2 }), untroubled())
    ).sequences;
    expect((await other).sequences[0]).toEqual(expected);
    expect(decoder.extended).toEqual([256, 256, 256, 88]);
    await running;
  });

  it('computes no further part of a prompt that is aborted, however many the budget allows', async () => {
    const decoder = new FakeDecoder(1, 1000);
    const loop = start(decoder, { prefillTokens: 2048 });
    const stop = new AbortController();
    const extend = decoder.extend.bind(decoder);
    decoder.extend = (...given) => {
      setImmediate(() => stop.abort(new Error('enough')));
      return extend(...given);
    };
    const prompt = Array.from({ length: 900 }, (_, at) => at % 3);
    await expect(loop.submit(request({ prompt }), { signal: stop.signal })).rejects.toThrow('enough');
    expect(decoder.extended).toEqual([256]);
    expect(await loop.submit(request(), untroubled())).toEqual(await alone(request()));
  });

  it('computes a long prompt from its beginning if the weights change half way', async () => {
    const decoder = new FakeDecoder(3, 1000);
    const loop = start(decoder);
    const running = loop.submit(request({ maxTokens: 12, stopTokens: [] }), {
      signal: new AbortController().signal,
      onToken: () => {
        if (decoder.extended.length === 1) loop.setPolicyVersion(1);
      },
    });
    const prompt = Array.from({ length: 600 }, (_, at) => at % 3);
    const long = await loop.submit(request({ prompt, maxTokens: 2 }), untroubled());
    expect(decoder.extended).toEqual([256, 256, 256, 88]);
    expect(long.policyVersion).toBe(1);
    await running;
  });

  it('serves later requests after a long prompt failed half way, and names what was no error', async () => {
    const decoder = new FakeDecoder(2, 1000);
    const loop = start(decoder);
    const extend = decoder.extend.bind(decoder);
    decoder.extend = (...given) =>
      decoder.extended.length === 1 ? Promise.reject('out of memory') : extend(...given);
    const prompt = Array.from({ length: 600 }, (_, at) => at % 3);
    const failed = loop.submit(request({ prompt, maxTokens: 2 }), untroubled());
    await expect(failed).rejects.toThrow('sample: the engine failed while generating: out of memory');
    decoder.extend = extend;
    decoder.extended.length = 0;
    await loop.submit(request({ prompt, maxTokens: 2 }), untroubled());
    expect(decoder.extended).toEqual([256, 256, 88]);
  });
});

describe('GenerationLoop, sharing time', () => {
  /** Parts of a long prompt that are computed before each token of sequences that run. */
  async function parts(running: number, prefillTokens = 1024): Promise<number[]> {
    const decoder = new FakeDecoder(running + 1, 9000);
    const loop = start(decoder, { prefillTokens });
    const partsAt: number[] = [];
    const others = loop.submit(request({ count: running, maxTokens: 6, stopTokens: [] }), {
      signal: new AbortController().signal,
      onToken: ({ member }) => {
        if (member === 0) partsAt.push(decoder.extended.length);
      },
    });
    const prompt = Array.from({ length: 2 * prefillTokens }, (_, at) => at % 3);
    await Promise.all([others, loop.submit(request({ prompt, maxTokens: 1 }), untroubled())]);
    return partsAt.map((at, index) => at - (partsAt[index - 1] ?? 0)).slice(2);
  }

  it('gives long prompts the share of the sequences that wait for them, at least an eighth', async () => {
    // Half of four parts, a third, and an eighth of sixteen.
    expect(await parts(1)).toEqual([2, 2, 1, 0]);
    expect((await parts(2))[0]).toBe(1);
    expect((await parts(8, 4096))[0]).toBe(2);
  });

  it('answers with the version that a request began with', async () => {
    const loop = start(new FakeDecoder(1), { policyVersion: 3 });
    const group = loop.submit(request({ stopTokens: [] }), {
      signal: new AbortController().signal,
      onToken: () => loop.setPolicyVersion(7),
    });
    expect((await group).policyVersion).toBe(3);
  });
});
