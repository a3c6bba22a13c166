import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ScheduleOptions, scheduleFactor, scheduleSchema } from './schedule.ts';

const shared = process.env.RLP_SHARED ?? fileURLToPath(new URL('../../../../../shared', import.meta.url));
const file = `${shared}/conformance/lr_schedules.json`;

interface Case {
  readonly id: string;
  readonly fn: string;
  readonly params: Record<string, number>;
  readonly expected: { readonly lrs: number[] };
}

function optionsOf({ fn, params }: Case): ScheduleOptions {
  const warmup = params.num_warmup_steps ?? 0;
  const updates = params.num_training_steps!;
  switch (fn) {
    case 'constant_with_warmup':
      return { kind: 'constant', warmup };
    case 'linear':
      return { kind: 'linear', warmup, updates };
    case 'cosine':
      return {
        kind: 'cosine',
        warmup,
        updates,
        minimumRatio: params.min_lr_ratio!,
        initialRatio: params.init_lr_ratio!,
        cycles: params.num_cycles!,
        pastEnd: 'continue',
      };
    case 'wsd':
      return {
        kind: 'warmup-stable-decay',
        warmup,
        updates,
        minimumRatio: params.min_lr_ratio!,
        stableRatio: params.stable_ratio!,
      };
    case 'warmup_cosine_rollouts':
      // The reference takes the minimum of the rate after it was lowered to its warmup start, a tenth.
      return {
        kind: 'cosine',
        warmup,
        updates,
        initialRatio: 0.1,
        minimumRatio: 0.1 * params.min_lr_ratio!,
        pastEnd: 'continue',
      };
    case 'torch_cosine_annealing':
      return { kind: 'cosine', updates: params.t_max!, minimumRatio: params.eta_min! / params.base_lr! };
    default:
      throw new Error(`no schedule for ${fn}`);
  }
}

describe('scheduleFactor', () => {
  it('rises, holds and falls where it says', () => {
    const schedule = scheduleSchema.parse({
      kind: 'warmup-stable-decay',
      warmup: 2,
      updates: 10,
      stableRatio: 0.5,
    });
    expect(Array.from({ length: 12 }, (_, made) => scheduleFactor(schedule, made))).toEqual(
      [0, 0.5, 1, 1, 1, 1, 1, 0.8535533905932737, 0.5, 0.14644660940672627, 0, 0].map((x) =>
        expect.closeTo(x, 12),
      ),
    );
  });

  it('holds for the whole updates of a stable length that is none', () => {
    const schedule = scheduleSchema.parse({ kind: 'warmup-stable-decay', updates: 7, stableRatio: 0.5 });
    // 3.5 updates: three are stable, and the fourth begins the decay over the other four.
    expect(Array.from({ length: 6 }, (_, made) => scheduleFactor(schedule, made))).toEqual(
      [1, 1, 1, 1, (1 + Math.cos(Math.PI / 4)) / 2, 0.5].map((x) => expect.closeTo(x, 12)),
    );
  });

  it('stays at the minimum past the end unless told to follow the cosine', () => {
    const hold = scheduleSchema.parse({ kind: 'cosine', updates: 4, minimumRatio: 0.1 });
    expect(scheduleFactor(hold, 9)).toBeCloseTo(0.1, 12);
    const on = scheduleSchema.parse({ kind: 'cosine', updates: 4, minimumRatio: 0.1, pastEnd: 'continue' });
    expect(scheduleFactor(on, 8)).toBeCloseTo(1, 12);
  });

  it('names every bad option', () => {
    expect(scheduleSchema.safeParse({ kind: 'linear', warmup: -1 }).error?.issues).toHaveLength(2);
  });
});

describe.skipIf(!existsSync(file))('published schedules (needs lr_schedules.json)', () => {
  const { cases, tolerance } = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[]; tolerance: { abs: number; rel: number } })
    : { cases: [], tolerance: { abs: 0, rel: 0 } };

  it.each(cases.map((one) => [one.id, one] as const))('%s', (_, one) => {
    const schedule = scheduleSchema.parse(optionsOf(one));
    const wrong = one.expected.lrs.filter((expected, made) => {
      const got = one.params.base_lr! * scheduleFactor(schedule, made);
      // The absolute tolerance of the files exceeds the smallest rates. Use the relative one.
      return !(Math.abs(got - expected) <= 1e-20 + tolerance.rel * Math.abs(expected));
    });
    expect(wrong).toEqual([]);
  });
});
