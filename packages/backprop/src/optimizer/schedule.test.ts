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
  // Learning rates of transformers 5.23 with a base rate of 1: `get_*_schedule*` of transformers.optimization.
  it.each<readonly [string, ScheduleOptions, readonly number[]]>([
    [
      'polynomial',
      { kind: 'polynomial', warmup: 4, updates: 20, minimumRatio: 1e-7 },
      [
        0.0, 0.25, 0.5, 0.75, 1.0, 0.9375000062, 0.8750000125, 0.8125000187, 0.750000025, 0.6875000313,
        0.6250000375, 0.5625000437, 0.50000005, 0.4375000563, 0.3750000625, 0.3125000688, 0.250000075,
        0.1875000813, 0.1250000875, 0.06250009375, 1e-7, 1e-7, 1e-7, 1e-7,
      ],
    ],
    [
      'polynomial, power 2',
      { kind: 'polynomial', warmup: 3, updates: 15, minimumRatio: 0.1, power: 2 },
      [
        0.0, 0.3333333333, 0.6666666667, 1.0, 0.85625, 0.725, 0.60625, 0.5, 0.40625, 0.325, 0.25625, 0.2,
        0.15625, 0.125, 0.10625, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
      ],
    ],
    [
      'inverse_sqrt',
      { kind: 'inverse-sqrt', warmup: 5 },
      [
        0.0,
        0.2,
        0.4,
        0.6,
        0.8,
        1.0,
        0.9128709292,
        0.8451542547,
        0.790569415,
        0.7453559925,
        Math.SQRT1_2,
        0.6741998625,
        0.6454972244,
        0.6201736729,
        0.5976143047,
        0.5773502692,
        0.5590169944,
        0.5423261445,
        0.5270462767,
        0.512989176,
        0.5,
        0.4879500365,
        0.4767312946,
        0.4662524041,
      ],
    ],
    [
      'inverse_sqrt, timescale',
      { kind: 'inverse-sqrt', warmup: 2, timescale: 100 },
      [
        0.0, 0.5, 1.0, 0.9950371902, 0.990147543, 0.9853292782, 0.9805806757, 0.9759000729, 0.9712858624,
        0.966736489, 0.9622504486, 0.9578262852, 0.9534625892, 0.9491579958, 0.9449111825, 0.9407208684,
        0.9365858116, 0.9325048082, 0.9284766909, 0.924500327, 0.9205746179, 0.916698497, 0.9128709292,
        0.9090909091,
      ],
    ],
    [
      'cosine_with_restarts',
      { kind: 'cosine-with-restarts', warmup: 4, updates: 20, cycles: 3 },
      [
        0.0, 0.25, 0.5, 0.75, 1.0, 0.9157348062, 0.6913417162, 0.402454839, 0.1464466094, 0.009607359798,
        0.9619397663, 0.7777851165, 0.5, 0.2222148835, 0.03806023374, 0.9903926402, 0.8535533906, 0.597545161,
        0.3086582838, 0.08426519385, 0.0, 0.0, 0.0, 0.0,
      ],
    ],
    [
      'cosine_with_restarts, one',
      { kind: 'cosine-with-restarts', updates: 10 },
      [
        1.0, 0.9755282581, 0.9045084972, 0.7938926261, 0.6545084972, 0.5, 0.3454915028, 0.2061073739,
        0.09549150281, 0.02447174185, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
      ],
    ],
    [
      'cosine_with_min_lr',
      { kind: 'cosine', warmup: 4, updates: 20, minimumRatio: 0.1, pastEnd: 'continue' },
      [
        0.0, 0.25, 0.5, 0.75, 1.0, 0.9913533762, 0.9657457896, 0.9241613255, 0.8681980515, 0.8000066049,
        0.7222075446, 0.6377906449, 0.55, 0.4622093551, 0.3777924554, 0.2999933951, 0.2318019485,
        0.1758386745, 0.1342542104, 0.1086466238, 0.1, 0.1086466238, 0.1342542104, 0.1758386745,
      ],
    ],
    [
      'warmup_stable_decay, linear',
      {
        kind: 'warmup-stable-decay',
        initialRatio: 0.1,
        warmup: 4,
        updates: 20,
        minimumRatio: 0.1,
        stableRatio: 0.5,
        decayForm: 'linear',
      },
      [
        0.1, 0.325, 0.55, 0.775, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.8875, 0.775, 0.6625, 0.55,
        0.4375, 0.325, 0.2125, 0.1, 0.1, 0.1, 0.1,
      ],
    ],
    [
      'warmup_stable_decay, cosine',
      {
        kind: 'warmup-stable-decay',
        initialRatio: 0.1,
        warmup: 4,
        updates: 20,
        minimumRatio: 0.1,
        stableRatio: 0.5,
        decayForm: 'cosine',
      },
      [
        0.1, 0.325, 0.55, 0.775, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9657457896, 0.8681980515,
        0.7222075446, 0.55, 0.3777924554, 0.2318019485, 0.1342542104, 0.1, 0.1, 0.1, 0.1,
      ],
    ],
    [
      'warmup_stable_decay, 1-sqrt',
      {
        kind: 'warmup-stable-decay',
        initialRatio: 0.1,
        warmup: 4,
        updates: 20,
        minimumRatio: 0.1,
        stableRatio: 0.5,
        decayForm: 'root',
      },
      [
        0.1, 0.325, 0.55, 0.775, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.6818019485, 0.55,
        0.4488648079, 0.3636038969, 0.2884875265, 0.2205771366, 0.158127088, 0.1, 0.1, 0.1, 0.1,
      ],
    ],
  ])('is that of transformers: %s', (_, options, rates) => {
    const schedule = scheduleSchema.parse(options);
    expect(rates.map((_rate, made) => scheduleFactor(schedule, made))).toEqual(
      rates.map((rate) => expect.closeTo(rate, 8)),
    );
  });

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

  it('goes in straight lines between the points of a schedule of your own', () => {
    const points = scheduleSchema.parse({
      kind: 'points',
      points: [
        [10, 0],
        [20, 1],
        [60, 0.5],
      ],
    });
    const factors = [0, 10, 15, 20, 40, 60, 1000].map((made) => scheduleFactor(points, made));
    expect(factors).toEqual([0, 0, 0.5, 1, 0.75, 0.5, 0.5]);
    expect(() =>
      scheduleSchema.parse({
        kind: 'points',
        points: [
          [5, 1],
          [5, 0],
        ],
      }),
    ).toThrow('in order');
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
