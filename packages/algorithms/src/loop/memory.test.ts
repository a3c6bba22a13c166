import type { MemoryForecast } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { banditSetup } from './bandit.fixture.ts';
import { MemoryCheck } from './memory.ts';
import type { RlOptions } from './options.ts';
import { runRlTraining } from './rl.ts';
import type { RunStoppedError } from './run-stopped.ts';

const gib = 2 ** 30;
const plan = { failureBudget: { whenSpent: 'stop' }, tasksPerIteration: 1, lookAhead: 0 } as const;

interface BatchSize {
  readonly sequences: number;
  readonly tokens: number;
}

/** A run whose backend takes so much; what it was asked, what it said, and how it ended. */
async function runWith(
  take: (batch: BatchSize) => Partial<MemoryForecast> | undefined,
  options: RlOptions = {},
) {
  const setup = banditSetup('memory');
  const asked: BatchSize[] = [];
  const backend = Object.assign(setup.backend, {
    forecastMemory(given: readonly { readonly tokens: readonly number[] }[]): MemoryForecast | undefined {
      const batch = {
        sequences: given.length,
        tokens: Math.max(...given.map(({ tokens }) => tokens.length)),
      };
      asked.push(batch);
      const taken = take(batch);
      return taken && { bytes: {}, held: gib, available: 4 * gib, remedy: 'lower tokens', ...taken };
    },
  });
  const notes: string[] = [];
  let iterations = 0;
  const error = await (async () => {
    for await (const report of runRlTraining(
      { ...setup, backend },
      { iterations: 3, tasksPerIteration: 2, ...options },
    )) {
      notes.push(...report.notes.filter((note) => note.includes('GiB')));
      iterations += 1;
    }
  })().catch((reason: unknown) => reason as RunStoppedError);
  return { asked, notes, iterations, error, cursor: setup.tasks.cursor };
}

describe('memory of a run', () => {
  it('is asked for before the run and before updates', async () => {
    const { asked, notes, iterations, error } = await runWith(() => ({ bytes: { weights: 2 * gib } }));
    expect([iterations, notes, error]).toEqual([3, [], undefined]);
    expect(asked[0]).toEqual({ sequences: 1, tokens: 2 });
    expect(asked[1]).toEqual({ sequences: 16, tokens: expect.any(Number) });
    expect(asked).toHaveLength(4);
  });

  it('is compared again when a batch takes more, though no sequence is longer', async () => {
    let updates = 0;
    const taken = [0, 1, 1, 9];
    const { error, iterations } = await runWith(() => ({ bytes: { logits: taken[updates++]! * gib } }));
    expect([iterations, error?.reason]).toEqual([2, 'memory']);
  });

  it('is not asked for of what is not trained', () => {
    const { backend, inference, tasks, rollouts } = banditSetup('memory');
    const asked: number[][] = [];
    Object.assign(backend, {
      forecastMemory: (given: readonly { readonly tokens: readonly number[] }[]) =>
        void asked.push(given.map(({ tokens }) => tokens.length)),
    });
    const check = new MemoryCheck({ backend, inference, tasks, rollouts }, plan, () => undefined);
    const step = (promptTokens: number[], tokens: number[]) => ({ promptTokens, tokens });
    const scored = [step([1, 2], [3]), step([], []), step([1], [])].map((one) => ({
      reward: 1,
      trajectory: { steps: [one] },
    }));
    check.beforeUpdates([{ scored }] as never, { iteration: 1, state: { iteration: 1, taskCursor: 0 } });
    expect(asked).toEqual([[3]]);
  });

  it.each([
    [{ groupSize: 4 }, 0, 12],
    [{ groupSize: 4 }, 2, 36],
    [{}, 0, undefined],
  ])(
    'counts the sequences that are sampled at once, and the sampler’s weights: %j',
    (group, lookAhead, at) => {
      const { backend, inference, tasks } = banditSetup('memory');
      const asked: unknown[] = [];
      Object.assign(backend, {
        forecastMemory: (): MemoryForecast => ({ bytes: {}, held: 0, available: gib, remedy: 'r' }),
      });
      Object.assign(inference, {
        cacheBytes(tokens: number, sequences?: number) {
          asked.push(tokens, sequences);
          return gib;
        },
        weightBytes: gib,
      });
      const rollouts = { options: { sampling: { temperature: 1 }, ...group } };
      const notes: string[] = [];
      const failureBudget = { whenSpent: 'continue' } as const;
      const check = new MemoryCheck(
        { backend, inference, tasks, rollouts },
        { failureBudget, tasksPerIteration: 3, lookAhead },
        (note) => notes.push(note),
      );
      check.atStart({ iteration: 0, state: { iteration: 0, taskCursor: 0 } });
      expect(asked).toEqual([2, at]);
      expect(notes[0]).toContain('(key-value cache 1.00 GiB, rollout weights 1.00 GiB)');
    },
  );

  it('that is far too much stops the run before anything is sampled', async () => {
    const { error, iterations, cursor } = await runWith(() => ({
      bytes: { weights: 3 * gib, optimizer: 6 * gib, runtime: 1 },
    }));
    expect([iterations, cursor, error?.reason]).toEqual([0, 0, 'memory']);
    expect(error?.message).toBe(
      'runRlTraining: iteration 1: updates with 1 sequence of up to 2 tokens take about 8.00 GiB more memory than the process has, ' +
        'and 4.00 GiB are free (weights 3.00 GiB, optimizer 6.00 GiB); lower tokens',
    );
  });

  it('that the samples make too much gives their tasks back', async () => {
    const { error, iterations, cursor } = await runWith(({ sequences }) => ({
      bytes: { activations: sequences > 1 ? 9 * gib : 0 },
    }));
    expect([iterations, cursor, error?.reason, error?.state.taskCursor]).toEqual([0, 0, 'memory', 0]);
  });

  it('near the limit is a note, and so is any with whenSpent: continue', async () => {
    const near = await runWith(() => ({ bytes: { weights: 4.9 * gib } }));
    expect([near.iterations, near.error]).toEqual([3, undefined]);
    expect(near.notes[0]).toMatch(/take about 3\.90 GiB more memory .* 4\.00 GiB are free .*; lower tokens$/);
    const failureBudget = { whenSpent: 'continue' } as const;
    const far = await runWith(() => ({ bytes: { weights: 90 * gib } }), { failureBudget });
    expect([far.iterations, far.error]).toEqual([3, undefined]);
    expect(far.notes[0]).toContain('89.00 GiB');
  });

  it('that nobody knows stops nothing', async () => {
    expect(await runWith(() => undefined)).toMatchObject({ iterations: 3, notes: [], error: undefined });
  });
});
