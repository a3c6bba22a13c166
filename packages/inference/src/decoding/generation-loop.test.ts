import { SamplerError } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  DrawingDecoder,
  distribution,
  FakeDecoder,
  ParrotDecoder,
  vocabularySize,
} from '../testing/fake-decoder.ts';
import { alone, end, request, start, untroubled } from './generation-loop.fixture.ts';
import type { SequenceRequest } from './sequence.ts';

const requests = fc.record({
  prompt: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 6 }),
  count: fc.integer({ min: 1, max: 5 }),
  maxTokens: fc.integer({ min: 1, max: 10 }),
  temperature: fc.constantFrom(0, 0.7, 1),
  repetitionPenalty: fc.constantFrom(1, 1.3),
  topK: fc.constantFrom(0, 3),
  seed: fc.constantFrom('a', 'b', 'c'),
});

describe('GenerationLoop', () => {
  it('gives each request what it gets alone, whatever else is running', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(requests, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 0, max: 5 }),
        async (changes, maxSequences, blocks, promptLookup) => {
          const loop = start(new FakeDecoder(maxSequences), { blocks, promptLookup });
          const all = await Promise.all(changes.map((change) => loop.submit(request(change), untroubled())));
          const each = await Promise.all(changes.map((change) => alone(request(change))));
          expect(all).toEqual(each);
          expect(loop.running).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('gives every turn of a conversation what it gets alone, whatever is kept and forgotten', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(requests, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 0, max: 16 }),
        async (conversations, maxSequences, blocks) => {
          const decoder = new FakeDecoder(maxSequences);
          const loop = start(decoder, { blocks });
          const talk = async (turns: readonly Partial<SequenceRequest>[]) => {
            let history: readonly number[] = [];
            for (const turn of turns) {
              const prompt = [...history, ...turn.prompt!];
              if (prompt.length >= decoder.contextLength) return;
              const asked = request({ ...turn, prompt });
              const { sequences } = await loop.submit(asked, untroubled());
              expect(sequences).toEqual((await alone(asked)).sequences);
              history = [...prompt, ...sequences[0]!.tokens];
            }
          };
          await Promise.all(conversations.map(talk));
        },
      ),
      { numRuns: 20 },
    );
  });

  it('computes only what follows the tokens that an earlier turn left, from the first continuation on', async () => {
    const decoder = new FakeDecoder(2, 100);
    const loop = start(decoder, { blocks: 40 });
    let prompt: readonly number[] = [1, 2, 3];
    for (let turn = 0; turn < 4; turn++) {
      const { sequences } = await loop.submit(request({ prompt, stopTokens: [] }), untroubled());
      prompt = [...prompt, ...sequences[0]!.tokens, 4, 5];
    }
    expect(decoder.prefills).toEqual([1, 1]);
    // The last sampled token was never computed.
    expect(decoder.extended).toEqual([3, 3]);
  });

  it('keeps nothing of short prompts and their completions where no prompt continues one', async () => {
    const decoder = new FakeDecoder(2);
    let saved = 0;
    const loop = start(decoder, { blocks: 40 });
    decoder.saveRow = () => {
      saved++;
    };
    for (const seed of ['a', 'b', 'c']) await loop.submit(request({ seed, stopTokens: [] }), untroubled());
    expect(saved).toBe(0);
  });

  it('keeps long prompts at once', async () => {
    const decoder = new FakeDecoder(2, 200);
    const loop = start(decoder, { blocks: 100 });
    const prompt = Array.from({ length: 101 }, (_, at) => at % 7);
    for (const seed of ['a', 'b']) await loop.submit(request({ prompt, seed }), untroubled());
    expect(decoder.extended).toEqual([101, 1]);
  });

  it('computes at once what a sequence that runs alone said before', async () => {
    const parrot = { prompt: [1, 2, 3, 4, 1, 2], maxTokens: 8, temperature: 0, stopTokens: [] };
    const decoder = new ParrotDecoder(2);
    const { sequences } = await start(decoder, { promptLookup: 3 }).submit(request(parrot), untroubled());
    expect(sequences[0]!.tokens).toEqual([3, 4, 1, 2, 3, 4, 1, 2]);
    expect([decoder.steps, decoder.extended]).toEqual([0, [4, 3]]);
    const two = new ParrotDecoder(2);
    await start(two, { promptLookup: 3 }).submit(request({ ...parrot, count: 2 }), untroubled());
    expect([two.steps, two.extended]).toEqual([7, []]);
  });

  it('draws nothing behind the end of a completion, although more was guessed', async () => {
    const parrot = { prompt: [1, 2, 3, 4, 1, 2], maxTokens: 8, temperature: 0, stopTokens: [4] };
    const decoder = new ParrotDecoder(2);
    const { sequences } = await start(decoder, { promptLookup: 5 }).submit(request(parrot), untroubled());
    expect(sequences[0]).toMatchObject({ tokens: [3, 4], stopReason: 'stop' });
    const alike = { ...parrot, prompt: [2, 3, 4, 1, 2, 3, 4, 1], stopTokens: [4], maxTokens: 9 };
    const again = await start(new ParrotDecoder(2), { promptLookup: 5 }).submit(request(alike), untroubled());
    expect(again.sequences[0]!.tokens).toEqual([2, 3, 4]);
  });

  it('computes a short prompt at once, although it is longer than the budget', async () => {
    const decoder = new FakeDecoder(2);
    const prompt = Array.from({ length: 20 }, (_, at) => at % 7);
    await start(decoder).submit(request({ prompt }), untroubled());
    expect([decoder.prefills, decoder.extended]).toEqual([[1], []]);
  });

  it('forgets what it kept when the weights change, published or not', async () => {
    const prompt = Array.from({ length: 101 }, (_, at) => at % 7);
    for (const how of ['published', 'in place'] as const) {
      let changed = false;
      const decoder = new FakeDecoder(2, 200);
      const loop = start(decoder, { blocks: 100, weightsChanged: () => changed });
      await loop.submit(request({ prompt }), untroubled());
      if (how === 'published') loop.setPolicyVersion(1);
      else changed = true;
      await loop.submit(request({ prompt }), untroubled());
      expect(decoder.extended).toEqual([101, 101]);
    }
  });

  it('keeps nothing of a sequence that began with older weights', async () => {
    for (const change of [true, false]) {
      const decoder = new FakeDecoder(2, 100);
      const loop = start(decoder, { blocks: 100 });
      const talk = async (prompt: readonly number[], onToken?: () => void) => {
        const observer = { signal: new AbortController().signal, onToken };
        const { sequences } = await loop.submit(request({ prompt: [...prompt], stopTokens: [] }), observer);
        return [...prompt, ...sequences[0]!.tokens];
      };
      await talk(await talk([1, 2, 3]));
      let tokens = 0;
      const again = await talk([4, 5, 6], () => {
        if (++tokens === 4 && change) loop.setPolicyVersion(1);
      });
      decoder.extended.length = 0;
      await talk(again);
      expect(decoder.extended).toEqual(change ? [] : [1]);
    }
  });

  it('lets running sequences go on while a long prompt is computed in parts', async () => {
    const decoder = new FakeDecoder(3, 1000);
    const loop = start(decoder);
    const partsAt: number[] = [];
    const long = { prompt: Array.from({ length: 600 }, (_, at) => at % 3), maxTokens: 2 };
    const running = loop.submit(request({ maxTokens: 20, stopTokens: [] }), {
      signal: new AbortController().signal,
      onToken: () => partsAt.push(decoder.extended.length),
    });
    const waiting = loop.submit(request(long), untroubled());
    expect(await waiting).toEqual(await start(new FakeDecoder(1, 1000)).submit(request(long), untroubled()));
    expect(decoder.extended).toEqual([256, 256, 88]);
    await running;
    expect(partsAt.slice(0, 6)).toEqual([0, 0, 1, 2, 3, 3]);
  });

  it('computes the prompt of a group once', async () => {
    const decoder = new FakeDecoder(8);
    await start(decoder).submit(request({ count: 8 }), untroubled());
    expect(decoder.prefilled).toBe(1);
  });

  it('computes equal prompts of different requests once', async () => {
    const decoder = new FakeDecoder(8);
    const loop = start(decoder);
    await Promise.all(['a', 'b', 'c'].map((seed) => loop.submit(request({ seed }), untroubled())));
    expect(decoder.prefilled).toBe(1);
  });

  it('starts members that came late from the rows of earlier ones', async () => {
    const decoder = new FakeDecoder(4);
    await start(decoder).submit(request({ count: 24, stopTokens: [end, 4, 5, 6] }), untroubled());
    expect(decoder.prefilled).toBeLessThan(4);
  });

  it('reports the log probability at the sampling temperature, before filters', async () => {
    const change = request({ temperature: 0.7, topK: 2, repetitionPenalty: 1.5 });
    const { sequences } = await alone(change);
    const { tokens, logprobs } = sequences[0]!;
    tokens.forEach((token, t) => {
      const { probabilities } = distribution([...change.prompt, ...tokens.slice(0, t)], 0.7);
      expect(logprobs[t]).toBeCloseTo(Math.log(probabilities[token]!), 6);
    });
  });

  it('knows the logprob of a token that float32 gives no probability', async () => {
    const decoder = new FakeDecoder(1);
    const logits = Float32Array.from({ length: vocabularySize }, (_, token) => [0, 400, 240][token] ?? 0);
    const probabilities = Float32Array.from(logits, (logit) => Math.exp(logit - 400));
    decoder.prefill = async () => ({ logits, probabilities });
    const penalized = request({ maxTokens: 1, prompt: [1], temperature: 0, repetitionPenalty: 2 });
    const { sequences } = await start(decoder).submit(penalized, untroubled());
    expect(sequences).toEqual([{ tokens: [2], logprobs: [-160], stopReason: 'length' }]);
  });

  it('stops at the context limit', async () => {
    const prompt = Array.from({ length: 20 }, () => 1);
    const { sequences } = await alone(request({ prompt, maxTokens: 100, stopTokens: [] }));
    expect(sequences[0]).toMatchObject({ stopReason: 'length', tokens: { length: 4 } });
  });

  it('rejects an aborted request within one step and frees its rows', async () => {
    const decoder = new FakeDecoder(4);
    const loop = start(decoder);
    const controller = new AbortController();
    let tokens = 0;
    const aborted = loop.submit(request({ count: 4, maxTokens: 20, stopTokens: [] }), {
      signal: controller.signal,
      onToken: () => {
        if (++tokens === 16) controller.abort(new Error('enough'));
      },
    });
    const next = loop.submit(request(), untroubled());
    await expect(aborted).rejects.toThrow('enough');
    expect(tokens).toBe(16);
    expect(await next).toEqual(await alone(request()));
  });

  it('rejects what was running when the decoder fails, and serves what waited', async () => {
    const decoder = new FakeDecoder(2);
    decoder.failAt = 2;
    const loop = start(decoder);
    const running = loop.submit(request({ count: 2, stopTokens: [] }), untroubled());
    const waiting = loop.submit(request({ count: 2 }), untroubled());
    await expect(running).rejects.toThrow('the engine failed while generating: the device is gone');
    decoder.failAt = Number.POSITIVE_INFINITY;
    expect((await waiting).sequences).toHaveLength(2);
    expect(loop.running).toBe(0);
  });

  it('ends a member early when told to, keeping its tokens', async () => {
    const loop = start(new FakeDecoder(2));
    const observer = {
      signal: new AbortController().signal,
      onToken: ({ member }: { member: number }) => {
        if (member === 1) loop.finish(observer, 1);
      },
    };
    const { sequences } = await loop.submit(request({ count: 2, stopTokens: [] }), observer);
    expect(sequences.map(({ tokens }) => tokens.length)).toEqual([8, 1]);
  });

  it('does not share prompts computed with older weights', async () => {
    const decoder = new FakeDecoder(1);
    const loop = start(decoder);
    const group = loop.submit(request({ count: 2, stopTokens: [] }), {
      signal: new AbortController().signal,
      onToken: () => loop.setPolicyVersion(7),
    });
    expect((await group).policyVersion).toBe(0);
    expect(decoder.prefilled).toBe(2);
    expect((await loop.submit(request(), untroubled())).policyVersion).toBe(7);
  });

  it('starts a late member anew once the weights changed, though an earlier one still holds the prompt', async () => {
    for (const [change, prefilled] of [
      [true, 2],
      [false, 1],
    ] as const) {
      const decoder = new FakeDecoder(2);
      const loop = start(decoder);
      const seen = [0, 0, 0];
      const observer = {
        signal: new AbortController().signal,
        onToken: ({ member }: { readonly member: number }) => {
          seen[member]! += 1;
          if (member !== 0 || seen[0] !== 2) return;
          if (change) loop.setPolicyVersion(7);
          loop.finish(observer, 0);
        },
      };
      await loop.submit(request({ count: 3, stopTokens: [] }), observer);
      expect(seen).toEqual([2, 8, 8]);
      expect(decoder.prefilled).toBe(prefilled);
    }
  });

  it('computes as many prompts at once as the budget of a prefill allows', async () => {
    const decoder = new FakeDecoder(8);
    const loop = start(decoder);
    // 16 tokens are four prompts of four.
    const prompts = [0, 1, 2, 3, 4].map((token) => [token, 1, 2, 3]);
    await Promise.all(prompts.map((prompt) => loop.submit(request({ prompt }), untroubled())));
    expect(decoder.prefills).toEqual([4, 1]);
  });

  it('rejects a request whose distribution is not finite, and no other', async () => {
    const loop = start(new FakeDecoder(4));
    const bad = loop.submit(request({ count: 2, temperature: Number.MIN_VALUE }), untroubled());
    const good = loop.submit(request({ count: 2 }), untroubled());
    await expect(bad).rejects.toThrow(SamplerError);
    expect(await good).toEqual(await alone(request({ count: 2 })));
    expect(loop.running).toBe(0);
  });

  it('says so when the distribution is not finite', async () => {
    const decoder = new FakeDecoder(1);
    decoder.prefill = async () => ({ probabilities: new Float32Array(vocabularySize).fill(Number.NaN) });
    await expect(start(decoder).submit(request(), untroubled())).rejects.toThrow('not finite after 3 tokens');
  });
});

describe('GenerationLoop with a decoder that draws', () => {
  const plain = { count: 2, maxTokens: 8, stopTokens: [] };

  it('lets it draw the steps in which every row is drawn from the distribution of the model', async () => {
    const decoder = new DrawingDecoder(4);
    const loop = start(decoder);
    const filtered = { prompt: [2, 1], maxTokens: 4, topK: 3, stopTokens: [] };
    const all = await Promise.all([plain, filtered].map((one) => loop.submit(request(one), untroubled())));
    // The first token of each comes from its prompt, and three steps are taken together.
    expect(decoder.drawn).toEqual([2, 2, 2, 2]);
    const each = await Promise.all([plain, filtered].map((one) => alone(request(one))));
    const tokens = (groups: typeof all) => groups.map(({ sequences }) => sequences.map((one) => one.tokens));
    expect(tokens(all)).toEqual(tokens(each));
    expect(all[0]!.sequences[1]!.logprobs).toEqual(
      each[0]!.sequences[1]!.logprobs.map((logprob) => expect.closeTo(logprob, 6)),
    );
  });

  it.each([{ temperature: 0 }, { topK: 5 }, { topP: 0.9 }, { minP: 0.05 }, { repetitionPenalty: 1.1 }])(
    'draws by itself with %o',
    async (change) => {
      const decoder = new DrawingDecoder(2);
      await start(decoder).submit(request({ ...plain, ...change }), untroubled());
      expect([decoder.drawn, decoder.steps]).toEqual([[], 7]);
    },
  );
});

describe.each([
  ['distributions', FakeDecoder],
  ['tokens', DrawingDecoder],
] as const)('a member that is ended while a step of %s is taken over', (_, Decoder) => {
  it('gets no token of that step', async () => {
    const loop = start(new Decoder(2));
    const events: unknown[] = [];
    const observer = {
      signal: new AbortController().signal,
      onToken: (event: { readonly member: number; readonly token: number; readonly logprob: number }) => {
        events.push(event);
        if (event.member === 0 && events.length === 5) loop.finish(observer, 1);
      },
    };
    const { sequences } = await loop.submit(request({ count: 2, stopTokens: [] }), observer);
    expect(sequences.map(({ tokens, stopReason }) => [tokens.length, stopReason])).toEqual([
      [8, 'length'],
      [2, 'stop'],
    ]);
    const told = (member: number) =>
      sequences[member]!.tokens.map((token, t) => ({
        member,
        token,
        logprob: sequences[member]!.logprobs[t],
      }));
    for (const member of [0, 1]) {
      expect(events.filter((event) => (event as { member: number }).member === member)).toEqual(told(member));
    }
  });
});
