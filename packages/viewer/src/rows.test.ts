import { describe, expect, it } from 'vitest';
import { shownOf } from './payload.ts';
import { demoRecords } from './records.fixture.ts';
import { everything, parametersOf, queryOf, selectRows, sortKeys } from './rows.ts';
import { knownShades, shadeLimit, shadeOf } from './shades.ts';

const records = demoRecords(64);
const rows = records.map(
  (record, at) => shownOf(record, { isScored: true, alerts: at === 9 ? [0] : [] }).row,
);
const idsOf = (places: readonly number[]) => places.map((place) => rows[place]!.id);

describe('selectRows', () => {
  it('lists everything in the order of the file, or turned around', () => {
    expect(selectRows(rows, everything)).toEqual(rows.map((_, place) => place));
    expect(selectRows(rows, { ...everything, direction: 'down' })[0]).toBe(63);
  });

  it('sorts by a number, and puts rows without it last', () => {
    const rewards = selectRows(rows, { ...everything, sort: 'reward', direction: 'down' }).map(
      (place) => rows[place]!.reward,
    );
    const scored = rewards.filter((reward) => reward !== null);
    expect(scored).toEqual(scored.toSorted((a, b) => b! - a!));
    expect(rewards.slice(scored.length)).toEqual([null, null]);
  });

  it('selects by status, alerts, tools, rewards and group', () => {
    const truncated = selectRows(rows, { ...everything, status: 'truncated' });
    expect(truncated.every((place) => rows[place]!.status === 'truncated')).toBe(true);
    expect(truncated.length).toBeGreaterThan(1);
    expect(selectRows(rows, { ...everything, only: 'alerts' })).toEqual([9]);
    expect(selectRows(rows, { ...everything, only: 'tools' })).toHaveLength(64);
    expect(selectRows(rows, { ...everything, only: 'unscored' })).toEqual([7, 36]);
    expect(selectRows(rows, { ...everything, group: rows[0]!.group })).toEqual([0, 1, 2, 3]);
    expect(selectRows(rows, { ...everything, iteration: 1 })).toEqual([]);
  });

  it('finds a text in what the list shows, and wherever a search found it', () => {
    const named = selectRows(rows, { ...everything, text: 'KYOTO' });
    expect(new Set(idsOf(named).map((id) => id.split('-')[0]))).toEqual(new Set(['0/Kyoto']));
    expect(selectRows(rows, { ...everything, text: 'sunny' })).toEqual([]);
    expect(selectRows(rows, { ...everything, text: 'sunny' }, new Set([5]))).toEqual([5]);
  });
});

it('writes a query to an address and reads it back', () => {
  expect(parametersOf(everything)).toEqual([]);
  for (const sort of sortKeys) {
    const query = { ...everything, text: 'a & b', only: 'tools', iteration: 3, group: '1: x', sort } as const;
    expect(queryOf(new URLSearchParams(Object.fromEntries(parametersOf(query))))).toMatchObject({ sort });
    expect(queryOf(new URLSearchParams(Object.fromEntries(parametersOf(query))))).toEqual(query);
  }
  expect(queryOf(new URLSearchParams('status=<b>&sort=1&iteration=x&direction=left'))).toEqual(everything);
});

describe('shades', () => {
  const { steps } = shownOf(records[0]!, { isScored: true, alerts: [] }).body;

  it('offers what is known of the tokens', () => {
    expect(knownShades(steps)).toEqual(['nothing', 'logprob', 'advantage', 'ratio', 'entropy', 'mask']);
    const plain = steps.map(({ trace: _, ...step }) => step);
    expect(knownShades(plain)).toEqual(['nothing']);
  });

  it('gives equal sizes of either sign equal strength', () => {
    const limit = shadeLimit(steps, 'advantage');
    expect(limit).toBe(0.5);
    expect(shadeOf('advantage', 0.25, limit)).toEqual({ hue: 'more', strength: 0.5 });
    expect(shadeOf('advantage', -0.25, limit)).toEqual({ hue: 'less', strength: 0.5 });
    expect(shadeOf('ratio', 2, 0).strength).toBe(1);
    expect(shadeOf('ratio', 1.2, 0).strength).toBeCloseTo(shadeOf('ratio', 1 / 1.2, 0).strength, 12);
    expect(shadeOf('logprob', 0, 0).strength).toBe(0);
    expect(shadeOf('entropy', 1, 0)).toEqual({ hue: 'neutral', strength: 1 });
  });
});

it('tells recorded conversations apart by messages, calls and labels of their log', () => {
  const { trajectory } = demoRecords(1)[0]!;
  const columns = { rating: 5, solved: true, customer: 'c-17', cost: 0.25, turns: 2 };
  const task = { ...trajectory.task, metadata: { columns } };
  const recorded = { trajectory: { ...trajectory, task, steps: [] }, reward: null, components: {} };
  const { row } = shownOf(recorded, { isScored: false, alerts: [] });
  expect(row).toMatchObject({ steps: 0, messages: 5, calls: 1 });
  expect(row.labels).toEqual(['rating 5', 'solved true', 'cost 0.25']);
  expect(shownOf(demoRecords(1)[0]!, { isScored: true, alerts: [] }).row.messages).toBeUndefined();
});
