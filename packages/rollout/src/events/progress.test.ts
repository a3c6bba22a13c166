import { describe, expect, it } from 'vitest';
import { emptyProgress, isOver } from '../episode/member.ts';
import { progressOf } from './progress.ts';

describe('progressOf', () => {
  const member = (rest: object = {}) => ({
    progress: emptyProgress(0),
    waitsFor: 'sampler',
    sinceMs: 100,
    ...rest,
  });
  const group = (id: string, ...members: object[]) =>
    ({ groupId: id, task: { id: `task ${id}` }, members }) as never;
  const known = { queued: 2, yielded: 3, tokensPerSecond: undefined, nowMs: 350 };

  it('counts members by what they wait for, and those that ended', () => {
    const over = member({ trajectory: {} });
    const groups = [
      group('a', over, member({ waitsFor: 'nothing' }), member({ waitsFor: 'start' })),
      group('b', member(), member({ waitsFor: 'environment' }), member()),
    ];
    expect(progressOf(groups, known)).toStrictEqual({
      groups: { queued: 2, running: 2, yielded: 3 },
      episodes: { running: 4, ended: 2, waitingFor: { start: 1, sampler: 2, environment: 1 } },
      slowest: { episode: 'a/2', task: 'task a', turns: 0, waitsFor: 'start', ageMs: 250 },
    });
  });

  it('has a speed and ages only if they are known, and no slowest if none runs', () => {
    expect(progressOf([], { ...known, tokensPerSecond: 0 })).toStrictEqual({
      groups: { queued: 2, running: 0, yielded: 3 },
      episodes: { running: 0, ended: 0, waitingFor: { start: 0, sampler: 0, environment: 0 } },
      tokensPerSecond: 0,
    });
    const slowest = { episode: 'a/0', task: 'task a', turns: 0, waitsFor: 'sampler' };
    expect(progressOf([group('a', member())], { ...known, nowMs: undefined }).slowest).toStrictEqual(slowest);
    expect(progressOf([group('a', member({ sinceMs: undefined }))], known).slowest).toStrictEqual(slowest);
  });

  it.each([
    ['pending', false],
    ['aborted', false],
    ['completed', true],
    ['truncated', true],
    ['failed', true],
  ] as const)('an episode that is %s is over: %s', (status, over) => {
    expect(isOver({ status })).toBe(over);
  });
});
