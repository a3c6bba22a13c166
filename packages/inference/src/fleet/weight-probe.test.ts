import type { WeightPublication } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { FleetMember } from './member.ts';
import { engines, published, StubEngine } from './stub-engine.fixture.ts';
import { syncWeightsToEngines } from './sync-weights.ts';
import { ProbedWeights } from './weight-probe.ts';

describe('FleetMember', () => {
  it('rests for the first time, twice as long after each failure, at most the longest', () => {
    const member = new FleetMember(new StubEngine());
    const rest = { firstMs: 10, longestMs: 35 };
    for (const [failures, until] of [110, 120, 135, 135].entries()) {
      member.fail(failures === 0 ? 'gone' : new Error('away'), 100, rest);
      expect(member.restsUntil).toBe(until);
      expect(member.status).toEqual({
        ...{ state: 'resting', load: 0, policyVersion: 0, failures: failures + 1 },
        reason: failures === 0 ? 'gone' : 'away',
      });
    }
    member.recover();
    expect(member.status).toEqual({
      ...{ state: 'serving', load: 0, policyVersion: 0, failures: 0, reason: undefined },
    });
  });
});

describe('ProbedWeights', () => {
  /** Logprobs of trainer and engine after each publication. Returns the message of the last check. */
  async function check(
    after: readonly (readonly [readonly number[], readonly number[]])[],
    tolerance?: number,
  ) {
    let now: readonly [readonly number[], readonly number[]] = [[], []];
    const engine = {
      scoreTokens: async () => [{ logprobs: Float32Array.from(now[1]), entropies: new Float32Array() }],
    };
    const request = { prompt: [1], completion: [2, 3] };
    const probed = new ProbedWeights({ request, trainer: async () => now[0], tolerance });
    for (const [index, one] of after.entries()) {
      now = one;
      await probed.published();
      const checked = probed.check(engine);
      if (index < after.length - 1) await checked;
      else
        return checked.then(
          () => 'as the trainer',
          ({ message }: Error) => message,
        );
    }
    return 'not asked';
  }

  it('compares nothing without a publication, or at the first one', async () => {
    const engine = { scoreTokens: () => Promise.reject(new Error('asked')) };
    const request = { prompt: [1], completion: [2] };
    await new ProbedWeights({ request, trainer: async () => [0] }).check(engine);
    expect(
      await check([
        [
          [-1, -1],
          [-3, -3],
        ],
      ]),
    ).toBe('as the trainer');
  });

  it('lets an engine move half as far as the trainer, if its level stays', async () => {
    const first = [
      [-1, -1],
      [-1.25, -1],
    ] as const;
    expect(
      await check([
        first,
        [
          [-1.5, -1],
          [-1.875, -1],
        ],
      ]),
    ).toBe('as the trainer');
    expect(
      await check([
        first,
        [
          [-1.5, -1],
          [-1.5, -1],
        ],
      ]),
    ).toMatch(
      /^its logprobs of a fixed text moved by 0\.250 nats, the trainer's by 0\.500: it answered and did not load/,
    );
    // A movement against the gradient does not come from the trainer.
    expect(
      await check([
        first,
        [
          [-0.5, -1],
          [-1.75, -1],
        ],
      ]),
    ).toMatch(/moved by 0\.500 nats, the trainer's by 0\.500/);
  });

  it('does not compare movements below twice the tolerance', async () => {
    const first = [
      [-1, -1],
      [-1, -1],
    ] as const;
    const still = [
      [-1.25, -1],
      [-1, -1],
    ] as const;
    expect(await check([first, still], 0.2)).toBe('as the trainer');
    expect(await check([first, still], 0.125)).toMatch(/moved by 0\.000 nats/);
    expect(
      await check([
        first,
        [
          [-1.015, -1],
          [-1, -1],
        ],
      ]),
    ).toBe('as the trainer');
    expect(
      await check([
        first,
        [
          [-1.025, -1],
          [-1, -1],
        ],
      ]),
    ).toMatch(/moved by 0\.000 nats/);
  });

  it('compares with what was scored last, and levels with the first difference', async () => {
    const exact = (logprob: number) =>
      [
        [logprob, logprob],
        [logprob, logprob],
      ] as const;
    expect(await check([exact(-1), exact(-2), exact(-1)])).toBe('as the trainer');
    // Moves as the trainer and is 0.25 away, five times the tolerance of 0.05: not the trainer's weights.
    expect(
      await check(
        [
          exact(-1),
          [
            [-2, -2],
            [-2.25, -2.25],
          ],
        ],
        0.05,
      ),
    ).toMatch(/only some of them/);
    // 0.125 away at first, so four times as much and the tolerance may be rounding.
    const off = [
      [-1, -1],
      [-1.125, -1.125],
    ] as const;
    expect(
      await check(
        [
          off,
          [
            [-3, -3],
            [-3.5, -3.5],
          ],
        ],
        0.05,
      ),
    ).toBe('as the trainer');
    expect(
      await check(
        [
          off,
          [
            [-3, -3],
            [-3.5625, -3.5625],
          ],
        ],
        0.05,
      ),
    ).toMatch(/only some of them/);
  });
});

it('an engine that takes another version over is told apart from one that fails', async () => {
  const [engine, late] = engines(2);
  engine!.mode = 'reports another version';
  const stop = new AbortController();
  const signals: (AbortSignal | undefined)[] = [];
  Object.assign(late!, {
    updateWeights: (_: WeightPublication, signal?: AbortSignal) => {
      signals.push(signal);
      return new Promise<number>(() => undefined);
    },
  });
  setTimeout(() => stop.abort(new Error('enough')), 1);
  const [other, aborted] = await syncWeightsToEngines([engine!, late!], published(4), {
    signal: stop.signal,
  });
  expect(other).toEqual({ status: 'failed', error: new Error('expected version 4, the engine has 3') });
  expect(aborted).toEqual({ status: 'failed', error: new Error('enough') });
  expect(signals[0]!.aborted).toBe(true);
});
