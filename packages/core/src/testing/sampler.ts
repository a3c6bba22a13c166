import { ArgumentError } from '../errors.ts';
import type { SampleRequest, Sampler } from '../sampler.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface SamplerSubject {
  /** The sampler under test. The subject closes it. */
  readonly create: () => Sampler | Promise<Sampler>;
  /** A prompt it can complete by at least three tokens. */
  readonly prompt: readonly number[];
  /** A prompt that does not fit its context. Omit where the context is unlimited. */
  readonly tooLongPrompt?: readonly number[];
  /** `'seeded'` (default): equal seeds give equal completions. `'scripted'`: what comes is given from outside. */
  readonly randomness?: 'seeded' | 'scripted';
}

/**
 * Contract of {@link Sampler}. Run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeSampler(name: string, subject: SamplerSubject): void {
  const request = (change: Partial<SampleRequest> = {}): SampleRequest => ({
    prompt: subject.prompt,
    count: 3,
    maxTokens: 6,
    seed: 'contract',
    ...change,
  });

  describe(`${name} is a Sampler`, () => {
    it('resolves with exactly `count` completions', async () => {
      const sampler = await subject.create();
      expect(await sampler.sample(request({ count: 1 }))).toHaveLength(1);
      expect(await sampler.sample(request({ count: 5 }))).toHaveLength(5);
    });

    it('reports one logprob for each token, none of them positive, within the token budget', async () => {
      for (const { tokens, behaviorLogprobs } of await (await subject.create()).sample(request())) {
        expect(tokens.length).toBeGreaterThan(0);
        expect(tokens.length).toBeLessThanOrEqual(6);
        expect(behaviorLogprobs).toHaveLength(tokens.length);
        expect(Math.max(...behaviorLogprobs)).toBeLessThanOrEqual(0);
      }
    });

    it('stops at the token budget and says so', async () => {
      const [completion] = await (await subject.create()).sample(request({ count: 1, maxTokens: 1 }));
      expect(completion!.tokens).toHaveLength(1);
      expect(['length', 'stop']).toContain(completion!.stopReason);
    });

    it('stops at a stop token, which it keeps', async () => {
      const greedy = request({ count: 1, temperature: 0 });
      const free = (await (await subject.create()).sample(greedy))[0]!;
      const stopTokens = [free.tokens[0]!];
      const [completion] = await (await subject.create()).sample({ ...greedy, stopTokens });
      expect(completion).toMatchObject({ tokens: stopTokens, text: '', stopReason: 'stop' });
    });

    it('reports every token as it is sampled', async () => {
      const seen: number[][] = [[], [], []];
      const completions = await (await subject.create()).sample(
        request({ onToken: ({ member, token }) => seen[member]!.push(token) }),
      );
      expect(seen).toEqual(completions.map(({ tokens }) => [...tokens]));
    });

    it('marks completions with the version of the weights', async () => {
      const sampler = await subject.create();
      const version = sampler.policyVersion;
      for (const completion of await sampler.sample(request())) {
        expect(completion.policyVersion).toBe(version);
      }
    });

    it('rejects with the signal’s reason once aborted', async () => {
      const signal = AbortSignal.abort(new Error('stopped by the test'));
      await expect((await subject.create()).sample(request({ signal }))).rejects.toThrow(
        'stopped by the test',
      );
    });

    it('serves many requests at once', async () => {
      const sampler = await subject.create();
      const seeds = Array.from({ length: 12 }, (_, index) => `contract ${index}`);
      const groups = await Promise.all(seeds.map((seed) => sampler.sample(request({ seed, count: 2 }))));
      expect(groups.map((group) => group.length)).toEqual(seeds.map(() => 2));
    });

    const { tooLongPrompt } = subject;
    it.skipIf(tooLongPrompt === undefined)('rejects a prompt that does not fit the context', async () => {
      const sampling = (await subject.create()).sample(request({ prompt: tooLongPrompt! }));
      await expect(sampling).rejects.toThrow(ArgumentError);
      await expect(sampling).rejects.toThrow(String(tooLongPrompt!.length));
    });

    it.skipIf(subject.randomness === 'scripted')(
      'gives equal completions for equal seeds, others for others',
      async () => {
        const sampler = await subject.create();
        const drawn = async (seed: string) =>
          (await sampler.sample(request({ seed, count: 4 }))).map(({ tokens }) => tokens);
        const first = await drawn('one');
        expect(await drawn('one')).toEqual(first);
        expect(await drawn('two')).not.toEqual(first);
        expect(new Set(first.map((tokens) => tokens.join())).size).toBeGreaterThan(1);
      },
    );
  });
}
