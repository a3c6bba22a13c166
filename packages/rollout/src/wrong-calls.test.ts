import { describe, expect, it } from 'vitest';
import { bullRollouts, serveBullRollouts } from './bullmq.ts';
import * as rollout from './index.ts';
import { appendTrajectories, readTrajectories } from './jsonl.ts';
import { mockEnvironment, mockPolicy } from './testing.ts';

type Callee = (...given: never[]) => unknown;

/** Calls, and waits for the first value. */
async function called(callee: Callee, given: readonly unknown[]): Promise<unknown> {
  const made = callee(...(given as never[]));
  return made !== null && typeof made === 'object' && Symbol.asyncIterator in made
    ? (made as AsyncIterable<unknown>)[Symbol.asyncIterator]().next()
    : made;
}

const dependencies = { environment: mockEnvironment(), ...mockPolicy() };
const manager = new rollout.RolloutManager(dependencies);
const tasks = { take: () => [], seek: () => undefined, cursor: 0 };
const job = { task: { id: 'a', prompt: 'a', metadata: undefined }, groupId: 'a' };
const policy = { getAction: async () => ({ action: { type: 'text', content: 'a' } }) };
const stream = { options: {}, collectGroups: () => [], resume: () => [], unfinished: () => [] };
const counts = { groups: {}, episodes: {} };

it.each<[string, Callee, readonly unknown[]]>([
  ['appendTrajectories: path must be text, got 7', appendTrajectories, [7, []]],
  ['appendTrajectories: options must be an object, got 7', appendTrajectories, ['a', [], 7]],
  ['readTrajectories: path must be text, got 7', readTrajectories, [7]],
  ['readTrajectories: options must be an object, got 7', readTrajectories, ['a', 7]],
  ['trajectoriesFromJsonl: text must be text, got 7', rollout.trajectoriesFromJsonl, [7]],
  ['trajectoriesFromJsonl: source must be text, got 7', rollout.trajectoriesFromJsonl, ['', 7]],
  ['createRolloutCoordinator: options must be an object, got 7', rollout.createRolloutCoordinator, [7]],
  [
    'createRolloutCoordinator: expected policy to be a function that makes one, got undefined',
    rollout.createRolloutCoordinator,
    [{ environment: mockEnvironment }],
  ],
  [
    'agentRollouts: options must be an object, got 7',
    rollout.agentRollouts,
    [{ environment: mockEnvironment(), policy }, 7],
  ],
  ['agentRollouts: dependencies must be an object, got 7', rollout.agentRollouts, [7]],
  ['agentRollouts: invalid options', rollout.agentRollouts, [{ policy }]],
  [
    'RolloutManager: invalid options',
    rollout.agentRollouts,
    [{ environment: mockEnvironment(), policy }, { groupSize: 0 }],
  ],
  ['requireAnswerRoom: owner must be text, got 7', rollout.requireAnswerRoom, [7, {}, 7]],
  ['requireAnswerRoom: limit must be a number, got "a"', rollout.requireAnswerRoom, ['a', {}, 'a']],
  [
    'requireAnswerRoom: contextLength must be a number, got "a"',
    rollout.requireAnswerRoom,
    ['a', { contextLength: 'a' }, 7],
  ],
  ['recordTrajectories: options must be an object, got 7', rollout.recordTrajectories, [7]],
  ['recordTrajectories: invalid options', rollout.recordTrajectories, [{}]],
  ['progressLine: groups must be an object, got 7', rollout.progressLine, [{ groups: 7, episodes: {} }]],
  ['progressLine: episodes must be an object, got 7', rollout.progressLine, [{ groups: {}, episodes: 7 }]],
  [
    'progressLine: tokensPerSecond must be a number, got "a"',
    rollout.progressLine,
    [{ ...counts, tokensPerSecond: 'a' }],
  ],
  ['rolloutStream: options must be an object, got 7', rollout.rolloutStream, [{ ...stream, options: 7 }, {}]],
  [
    'rolloutStream: collectGroups must be a function, got 7',
    rollout.rolloutStream,
    [{ ...stream, collectGroups: 7 }, {}],
  ],
  ['rolloutStream: resume must be a function, got 7', rollout.rolloutStream, [{ ...stream, resume: 7 }, {}]],
  [
    'rolloutStream: unfinished must be a function, got 7',
    rollout.rolloutStream,
    [{ ...stream, unfinished: 7 }, {}],
  ],
  ['rolloutStream: options must be an object, got 7', rollout.rolloutStream, [manager, 7]],
  ['rolloutStream: invalid options', rollout.rolloutStream, [manager, { tasks, batch: 0 }]],
  [
    'rolloutStream: expected a manager that runs at least inFlight (65) groups at once, got a concurrency of 64: raise',
    rollout.rolloutStream,
    [manager, { tasks, inFlight: 65 }],
  ],
  [
    'rolloutStream: expected a manager that runs at least inFlight (65) groups',
    rollout.rolloutStream,
    [manager, { tasks, batch: 43, overSampling: 1.5 }],
  ],
  ['pooledRollouts: invalid options', rollout.pooledRollouts, [stream, { accepts: [] }]],
  [
    'pooledRollouts: invalid options',
    (pool: never) => rollout.pooledRollouts(pool).collectGroups([], { round: 0.5 }),
    [stream],
  ],
  ['RLRolloutWorker: invalid options', () => new rollout.RLRolloutWorker({ rollouts: manager } as never), []],
  ['RolloutManager: invalid options', () => new rollout.RolloutManager({} as never), []],
  ['RolloutManager: invalid options', () => manager.collectGroups([], { iteration: 0.5 }), []],
  ['RolloutManager: invalid options', () => manager.resume([], { signal: 7 } as never), []],
  ['RolloutManager: invalid options', () => manager.continueFrom([], { onEnded: 7 } as never), []],
  ['RolloutManager: invalid options', () => manager.collectJob(job, { onNote: 7 } as never), []],
  ['collectRollouts: invalid options', () => manager.collectRollouts({ minTrajectories: 1 } as never), []],
  ['owner: invalid options', rollout.requireCollectOptions, ['owner', { onGroup: 7 }]],
  ['RolloutManager: invalid options', rollout.resolveRolloutOptions, [{ groupSize: 0 }]],
  [
    'collectGroups: expected a list of tasks, got 7; write [ … ]',
    () => manager.collectGroups(7 as never),
    [],
  ],
  [
    'collectGroups: expected tasks with an id and a prompt, got null at place 1',
    () => manager.collectGroups([job.task, null as never]),
    [],
  ],
  [
    'collectGroups: expected a list of unfinished trajectories, got 7; write [ … ]',
    () => manager.collectGroups([], { unfinished: 7 as never }),
    [],
  ],
  [
    'continueFrom: expected a list of { task, state }, got 7; write [ … ]',
    () => manager.continueFrom(7 as never),
    [],
  ],
  [
    'continueFrom: expected { task, state } with the task that the state belongs to, got none at place 1',
    () => manager.continueFrom([{ task: job.task, state: { stepCount: 0 } } as never, {} as never]),
    [],
  ],
  ['resume: expected a list of trajectories, got 7; write [ … ]', () => manager.resume(7 as never), []],
  [
    'resume: the entry at place 0 is not a trajectory; pass trajectories that a RolloutManager collected',
    () => manager.resume([null as never]),
    [],
  ],
  [
    'resume: trajectory "x" has no group; pass trajectories that a RolloutManager collected',
    () => manager.resume([{ id: 'x', task: { id: 'a' } } as never]),
    [],
  ],
  [
    'resume: trajectory "x" has no group',
    () => manager.resume([{ id: 'x', task: {}, group: { id: 'g', member: 0 } } as never]),
    [],
  ],
  ['bullRollouts: invalid options', bullRollouts, [{ url: 'http://a' }]],
  ['serveBullRollouts: options must be an object, got 7', serveBullRollouts, [7]],
  ['serveBullRollouts: invalid options', serveBullRollouts, [{ url: 'redis://a', queue: 'a:b' }]],
])('%s', async (message, callee, given) => {
  await expect(called(callee, given)).rejects.toThrow(message);
});

describe('updateWeights of pooled rollouts', () => {
  it('takes files, and no weights in memory', async () => {
    const pooled = rollout.pooledRollouts({
      workers: 1,
      run: () => expect.unreachable(),
      close: async () => undefined,
    });
    expect(await pooled.updateWeights({ kind: 'adapter', version: 4, path: 'a' })).toBe(4);
    await expect(pooled.updateWeights({ kind: 'shared', version: 5 } as never)).rejects.toThrow(
      'updateWeights: expected weights in files, which workers can read, got shared ones',
    );
  });
});
