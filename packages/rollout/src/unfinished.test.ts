import {
  type Environment,
  type Message,
  type State,
  type Task,
  type Trajectory,
  type TrajectoryGroup,
  trajectorySchema,
} from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RolloutManager, type RolloutOptions, trajectoryToLine } from './index.ts';
import { characters, chat, mockPolicy, type Speak } from './testing.ts';

interface Counting extends State {
  readonly turns: number;
  readonly total: number;
  readonly said: readonly Message[];
}

/** Adds up digits, and shows messages, text, or both in turn. */
function counting(shows: 'messages' | 'text', changes: Partial<Environment<Counting, number>> = {}) {
  const environment: Environment<Counting, number, number> = {
    reset: ({ prompt, metadata }, seed) => ({
      prompt,
      response: '',
      stepCount: 0,
      turns: metadata,
      total: seed % 10,
      said: [{ role: 'user', content: `${prompt}` }],
    }),
    buildPrompt: ({ said }) => (shows === 'messages' ? said : said.map(({ content }) => content).join('')),
    updateState: async (state, response) => {
      await Promise.resolve();
      const total = state.total + [...response].reduce((sum, digit) => sum + Number(digit), 0);
      const call = response.length % 2 === 0 && shows === 'messages';
      const answer: Message = {
        role: 'assistant',
        content: call ? response.slice(1) : response,
        ...(call && {
          tool_calls: [{ id: 'c', type: 'function', function: { name: response[0]!, arguments: '{}' } }],
        }),
      };
      const said = [...state.said, answer, { role: 'user' as const, content: `|${total}|` }];
      return { ...state, response, total, said, stepCount: state.stepCount + 1 };
    },
    isTerminal: ({ stepCount, turns, total }) => stepCount >= turns || total > 60,
    stateKey: ({ total }) => `${total}`,
    outcome: ({ total }) => total,
    ...(changes as object),
  };
  return environment;
}

const babble: Speak = (_, stream) =>
  Array.from({ length: 1 + stream.integer(4) }, () => stream.integer(10)).join('');

const tasks = Array.from(
  { length: 4 },
  (_, at): Task<number> => ({ id: `t${at}`, prompt: `p${at}`, metadata: at + 1 }),
);

function manage(
  environment: Environment<Counting, number, number>,
  delay: () => number,
  options: RolloutOptions = {},
) {
  const { sampler } = mockPolicy({ speak: babble, delay });
  return new RolloutManager(
    { environment, sampler, tokenizer: characters, chat },
    { groupSize: 3, ...options },
  );
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** As a checkpoint or another machine would have it. */
const stored = (trajectories: readonly Trajectory<number, number>[]) =>
  (JSON.parse(JSON.stringify(trajectories)) as unknown[]).map(
    (each) => trajectorySchema.parse(each) as Trajectory<number, number>,
  );

const byId = (groups: readonly TrajectoryGroup<number, number>[]) =>
  JSON.parse(JSON.stringify(groups.toSorted((p, q) => (p.id < q.id ? -1 : 1))));

describe.each(['messages', 'text'] as const)('an unfinished episode that shows %s', (shows) => {
  it('becomes what it would have become, wherever it was stopped', async () => {
    const expected = byId(await all(manage(counting(shows), () => 0).collectGroups(tasks, { iteration: 2 })));
    await fc.assert(
      fc.asyncProperty(fc.nat(24), fc.nat(3), fc.boolean(), async (stopAfter, delayMs, isNamed) => {
        const stop = new AbortController();
        let requests = 0;
        const interrupted = manage(counting(shows), () => {
          requests += 1;
          if (requests === stopAfter) stop.abort(new Error('enough'));
          return requests % (delayMs + 1);
        });
        const before = await all(interrupted.collectGroups(tasks, { iteration: 2, signal: stop.signal }));
        const carried = stored(before.flatMap(({ trajectories }) => trajectories));
        const other = manage(counting(shows), () => 0);
        const rest = tasks.filter(({ id }) => !before.some(({ task }) => task.id === id));
        const after = isNamed
          ? await all(other.collectGroups(tasks, { iteration: 2, unfinished: carried }))
          : [
              ...(await all(other.resume(carried))),
              ...(await all(other.collectGroups(rest, { iteration: 2 }))),
            ];
        expect(byId(after)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('can be read while it runs, and goes on elsewhere as here', async () => {
    const snapshots: Trajectory<number, number>[][] = [];
    const manager: ReturnType<typeof manage> = manage(counting(shows), () => {
      snapshots.push(stored(manager.unfinished()));
      return 1;
    });
    const expected = byId(await all(manager.collectGroups(tasks, { iteration: 0 })));
    expect(manager.unfinished()).toEqual([]);
    expect(snapshots.length).toBeGreaterThan(10);
    expect(snapshots.flat().some(({ status, steps }) => status === 'pending' && steps.length > 1)).toBe(true);
    for (const unfinished of snapshots.slice(1)) {
      const other = manage(counting(shows), () => 0);
      expect(byId(await all(other.collectGroups(tasks, { iteration: 0, unfinished })))).toEqual(expected);
    }
  });
});

async function interruptedAfter(turns: number, environment: Environment<Counting, number, number>) {
  const stop = new AbortController();
  let requests = 0;
  const manager = manage(
    environment,
    () => {
      requests += 1;
      if (requests > turns) stop.abort(new Error('enough'));
      return 0;
    },
    { groupSize: 1 },
  );
  const [group] = await all(manager.collectGroups([tasks[3]!], { iteration: 0, signal: stop.signal }));
  return stored(group!.trajectories);
}

describe('an unfinished episode that does not fit', () => {
  it('is a failure with one sentence if it is of another version of the environment', async () => {
    const carried = await interruptedAfter(2, counting('messages', { version: '1' }));
    expect(carried[0]).toMatchObject({ status: 'aborted', environmentVersion: '1', steps: [{}, {}] });
    const [group] = await all(
      manage(counting('messages', { version: '2' }), () => 0, { groupSize: 1 }).resume(carried),
    );
    expect(group!.trajectories[0]).toMatchObject({
      status: 'failed',
      steps: [{}, {}],
      failure: {
        boundary: 'environment',
        message:
          'environment: cannot go on from a state of version "1", because this is version "2": begin the episode again',
      },
    });
  });

  it('is a failure if it has no state, or one that the environment cannot read', async () => {
    const [carried] = await interruptedAfter(2, counting('messages'));
    const { state: _, ...stateless } = carried!;
    const wrong = { ...carried!, state: { stepCount: 2, said: 5 } };
    for (const trajectory of [stateless, wrong]) {
      const [group] = await all(manage(counting('messages'), () => 0, { groupSize: 1 }).resume([trajectory]));
      expect(group!.trajectories[0]).toMatchObject({
        status: 'failed',
        failure: { boundary: 'environment' },
      });
    }
  });

  it('leaves its siblings alone', async () => {
    const carried = await interruptedAfter(2, counting('messages'));
    const manager = manage(counting('messages'), () => 0, { groupSize: 3 });
    const [group] = await all(manager.resume([{ ...carried[0]!, state: 7 }]));
    expect(group!.trajectories.map(({ status }) => status)).toEqual(['failed', 'completed', 'completed']);
  });

  it('is refused without a group, and without a place in it that is its own', () => {
    const manager = manage(counting('messages'), () => 0);
    const nameless = {
      id: 'x',
      task: tasks[0]!,
      steps: [],
      messages: [],
      response: '',
      status: 'pending',
      policyVersion: 0,
    } as const;
    expect(() => manager.resume([nameless])).toThrow('trajectory "x" has no group');
    expect(() => manager.resume([{ id: 'x' }] as never)).toThrow(
      'the entry at place 0 is not a trajectory; pass',
    );
    const unfinished = 'episodes' as never;
    expect(() => manager.collectGroups([tasks[0]!], { unfinished })).toThrow(
      'expected a list of unfinished trajectories, got "episodes"',
    );
    expect(() => manager.collectGroups([tasks[0]!, {} as never])).toThrow(
      'got an object with no fields at place 1',
    );
    expect(() => manager.resume('episodes' as never)).toThrow(
      'expected a list of trajectories, got "episodes"',
    );
    const placed = (member: number) => ({ ...nameless, group: { id: 'g', member } });
    for (const member of [-1, 0.5, 1e9]) {
      expect(() => manager.resume([placed(member)])).toThrow(
        `is member ${member} of its group, expected a whole`,
      );
    }
    expect(() => manager.resume([placed(1), placed(1)])).toThrow(
      'two trajectories are member 1 of the group "g"',
    );
  });

  it('is carried on untouched if the next collection is stopped before it begins', async () => {
    const carried = await interruptedAfter(2, counting('messages'));
    const manager = manage(counting('messages'), () => 0, { groupSize: 1 });
    const [group] = await all(manager.resume(carried, { signal: AbortSignal.abort() }));
    expect(stored(group!.trajectories)).toEqual(carried);
  });
});

it('counts the steps of an episode that goes on once', async () => {
  const carried = await interruptedAfter(2, counting('messages'));
  const manager = manage(counting('messages'), () => 0, { groupSize: 1 });
  const [group] = await all(manager.resume(carried));
  const { steps, carried: count, byStatus } = manager.getStatistics();
  expect({ steps, count, byStatus }).toMatchObject({
    steps: group!.trajectories[0]!.steps.length - 2,
    count: 1,
    byStatus: { completed: 1 },
  });
});

it('counts an episode that was over once more only as carried', async () => {
  const manager = manage(counting('messages'), () => 0, { groupSize: 1 });
  const [group] = await all(manager.collectGroups([tasks[0]!]));
  const before = manager.getStatistics();
  const ended: string[] = [];
  const [again] = await all(
    manager.resume(group!.trajectories, { onEnded: ({ id }) => void ended.push(id) }),
  );
  expect(again!.trajectories).toEqual(group!.trajectories);
  expect(ended).toEqual(['0/t0/0']);
  expect(manager.getStatistics()).toEqual({ ...before, groups: 2, carried: 1 });
});

describe('a state that is not plain data', () => {
  const odd = (value: unknown) => {
    const { reset } = counting('messages');
    const changed: Partial<Environment<Counting, number>> = {
      reset: async (...given) => ({ ...(await reset(...given)), seen: value }),
    };
    return manage(counting('messages', changed), () => 0);
  };

  it('is noted once, and only if it is one', async () => {
    const manager = odd(new Map());
    await all(manager.collectGroups([tasks[0]!, tasks[1]!]));
    expect(manager.takeNotes()).toEqual([expect.stringContaining('because state.seen is a Map; keep text')]);
    await all(manager.collectGroups([tasks[0]!]));
    expect(manager.takeNotes()).toEqual([]);
    const plain = odd([1]);
    await all(plain.collectGroups([tasks[0]!]));
    expect(plain.takeNotes()).toEqual([]);
  });

  it('is named if a trajectory cannot be written', () => {
    const trajectory = { id: '0/a/0', state: { seen: 10n } } as unknown as Trajectory;
    expect(() => trajectoryToLine(trajectory)).toThrow(
      'trajectoryToLine: "0/a/0" needs plain data, but state.seen is a bigint',
    );
  });
});

describe('continueFrom', () => {
  it('asks for lists, as collectGroups does', () => {
    const manager = manage(counting('messages'), () => 0);
    const fork = { task: tasks[0]!, state: {} };
    expect(() => manager.continueFrom(fork as never)).toThrow(
      'continueFrom: expected a list of { task, state }, got an object with task, state; write [ … ]',
    );
    expect(() => manager.collectGroups(tasks[0] as never)).toThrow(
      'expected a list of tasks, got an object with id, prompt, metadata',
    );
    expect(() => manager.collectGroups({ take: () => tasks } as never)).toThrow(
      'collectGroups: expected a list of tasks, got a task source; write source.take(8)',
    );
  });

  it('makes a group that begins in a state, and the same again for the same names', async () => {
    const carried = await interruptedAfter(2, counting('messages'));
    const state = carried[0]!.state as Counting;
    const fork = { task: tasks[3]!, state };
    const run = async () =>
      all(manage(counting('messages'), () => 0).continueFrom([fork, fork], { iteration: 5 }));
    const groups = await run();
    expect(groups.map(({ id }) => id)).toEqual(['5/t3~2', '5/t3~2#1']);
    const steps = groups.flatMap(({ trajectories }) => trajectories.map(({ steps }) => steps));
    expect(
      steps.every(([first]) => characters.decode(first!.promptTokens).includes(`|${state.total}|`)),
    ).toBe(true);
    expect(new Set(steps.map((each) => each[0]!.text)).size).toBeGreaterThan(1);
    expect(await run()).toEqual(groups);
  });

  it('goes on from a fork that was stopped before it acted', async () => {
    const state = (await interruptedAfter(2, counting('messages')))[0]!.state as Counting;
    const stop = new AbortController();
    const manager = manage(counting('messages'), () => {
      stop.abort(new Error('enough'));
      return 0;
    });
    const [aborted] = await all(
      manager.continueFrom([{ task: tasks[3]!, state }], { iteration: 0, signal: stop.signal }),
    );
    const carried = stored(aborted!.trajectories);
    const other = manage(counting('messages'), () => 0);
    const expected = await all(other.continueFrom([{ task: tasks[3]!, state }], { iteration: 0 }));
    expect(byId(await all(other.resume(carried)))).toEqual(byId(expected));
  });
});
