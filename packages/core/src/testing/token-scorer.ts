import { ArgumentError } from '../errors.ts';
import type { ScoreRequest, TokenScorer } from '../sampler.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface TokenScorerSubject {
  /** The scorer under test. The subject closes it. */
  readonly create: () => TokenScorer | Promise<TokenScorer>;
  /** Two requests of different lengths that fit, with at least two completion tokens each. */
  readonly requests: readonly [ScoreRequest, ScoreRequest];
  readonly vocabularySize: number;
  /** Largest difference of one number computed alone and in a batch. Default 1e-5. */
  readonly tolerance?: number;
  /** `'unknown'` for a scorer that cannot know entropies and reports NaN. Default `'given'`. */
  readonly entropies?: 'given' | 'unknown';
}

/**
 * Contract of {@link TokenScorer}. Run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeTokenScorer(name: string, subject: TokenScorerSubject): void {
  const { requests, vocabularySize, tolerance = 1e-5 } = subject;

  describe(`${name} is a TokenScorer`, () => {
    it('gives one logprob and one entropy for each completion token', async () => {
      const scores = await (await subject.create()).scoreTokens(requests);
      const lengths = requests.map(({ completion }) => completion.length);
      expect(scores.map(({ logprobs }) => logprobs.length)).toEqual(lengths);
      expect(scores.map(({ entropies }) => entropies.length)).toEqual(lengths);
    });

    it('gives logprobs that are never positive and entropies within [0, ln V]', async () => {
      const scores = await (await subject.create()).scoreTokens(requests);
      const logprobs = scores.flatMap((score) => [...score.logprobs]);
      const entropies = scores.flatMap((score) => [...score.entropies]);
      expect(Math.max(...logprobs)).toBeLessThanOrEqual(0);
      if (subject.entropies === 'unknown') return void expect(entropies.every(Number.isNaN)).toBe(true);
      expect(Math.min(...entropies)).toBeGreaterThanOrEqual(-tolerance);
      expect(Math.max(...entropies)).toBeLessThanOrEqual(Math.log(vocabularySize) + tolerance);
    });

    it('gives each request what it gets alone', async () => {
      const scorer = await subject.create();
      const together = await scorer.scoreTokens(requests);
      for (const [index, request] of requests.entries()) {
        const [alone] = await scorer.scoreTokens([request]);
        expectClose(together[index]!.logprobs, alone!.logprobs, tolerance);
        if (subject.entropies === 'unknown') continue;
        expectClose(together[index]!.entropies, alone!.entropies, tolerance);
      }
    });

    it('scores a token the same when the tokens before it are prompt instead of completion', async () => {
      const scorer = await subject.create();
      const { prompt, completion } = requests[0];
      const moved = { prompt: [...prompt, completion[0]!], completion: completion.slice(1) };
      const [whole] = await scorer.scoreTokens([requests[0]]);
      const [rest] = await scorer.scoreTokens([moved]);
      expectClose(rest!.logprobs, whole!.logprobs.slice(1), tolerance);
    });

    it('gives nothing for an empty list, and empty arrays for an empty completion', async () => {
      const scorer = await subject.create();
      expect(await scorer.scoreTokens([])).toEqual([]);
      const [empty] = await scorer.scoreTokens([{ prompt: requests[0].prompt, completion: [] }]);
      expect([empty!.logprobs.length, empty!.entropies.length]).toEqual([0, 0]);
    });

    it('rejects a request without a prompt', async () => {
      const scoring = (await subject.create()).scoreTokens([{ ...requests[0], prompt: [] }]);
      await expect(scoring).rejects.toThrow(ArgumentError);
    });

    it('rejects with the signal’s reason once aborted', async () => {
      const signal = AbortSignal.abort(new Error('stopped by the test'));
      const scoring = (await subject.create()).scoreTokens(requests, { signal });
      await expect(scoring).rejects.toThrow('stopped by the test');
    });
  });
}

function expectClose(actual: Float32Array, expected: Float32Array, tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  const worst = Math.max(0, ...actual.map((value, index) => Math.abs(value - expected[index]!)));
  expect(worst).toBeLessThanOrEqual(tolerance);
}
