import { expect, it } from 'vitest';
import { FormatError, OptionsError } from './errors.ts';
import { parseRecords } from './parse-records.ts';

const trajectory = {
  id: 'a/0',
  task: { id: 'a', prompt: 'Why?', metadata: null },
  steps: [],
  messages: [],
  response: 'So.',
  status: 'completed',
  policyVersion: 0,
};
const scored = { trajectory, reward: 1, components: {} };

it('reads a trajectory, a scored one and a group, of version 1 if they say so', () => {
  for (const version of [{}, { version: 1 }]) {
    expect(parseRecords({ ...version, ...trajectory }, 'x:1')).toEqual([trajectory]);
    expect(parseRecords({ ...version, ...scored }, 'x:1')).toEqual([scored]);
    const group = {
      id: 'a',
      task: trajectory.task,
      trajectories: [trajectory, { ...trajectory, id: 'a/1' }],
    };
    expect(parseRecords({ ...version, ...group }, 'x:1').map((each) => 'id' in each && each.id)).toEqual([
      'a/0',
      'a/1',
    ]);
  }
});

it.each([
  [{ ...trajectory, version: 2 }, 'x:3: not a trajectory: version: expected 1, got 2'],
  [7, 'x:3: not a trajectory: expected an object with `steps`, `trajectory` or `trajectories`'],
  [{ rows: [] }, 'x:3: not a trajectory: expected an object with `steps`, `trajectory` or `trajectories`'],
])('names the place and what is wrong: %j', (value, message) => {
  expect(() => parseRecords(value, 'x:3')).toThrow(new FormatError(message));
});

it('names every wrong field, and keeps the cause', () => {
  const read = () => parseRecords({ ...scored, reward: 'much', components: 3 }, 'x:3');
  expect(read).toThrow(/^x:3: not a trajectory: reward: .*; components: /);
  expect(read).toThrow(expect.objectContaining({ cause: expect.any(OptionsError) }));
});

it('passes on an error that is not about the record', () => {
  const broken = {
    get steps(): never {
      throw new RangeError('broken');
    },
  };
  expect(() => parseRecords(broken, 'x:3')).toThrow(RangeError);
});
