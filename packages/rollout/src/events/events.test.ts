import {
  type Environment,
  type Message,
  parseToolCalls,
  type RolloutEvent,
  type RolloutSink,
  rolloutEventSchema,
  type State,
  type Task,
  type Trajectory,
} from '@rlp/core';
import { describe, expect, it } from 'vitest';
import {
  debugLogger,
  progressLine,
  RolloutManager,
  type RolloutProgress,
  recordTrajectories,
  trajectoriesFromJsonl,
} from '../index.ts';
import { mockEnvironment, mockPolicy } from '../testing.ts';

const call = '<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>';

interface Shop extends State {
  readonly said: readonly Message[];
}

/** Answers a call of a tool with `2`, and is over at the first response without one. */
const shop: Environment<Shop> = {
  reset: ({ prompt }) => ({
    prompt,
    response: '',
    stepCount: 0,
    said: [{ role: 'user', content: String(prompt) }],
  }),
  buildPrompt: ({ said }) => said,
  updateState(state, response) {
    const { text, calls } = parseToolCalls(response);
    const answer: Message = {
      role: 'assistant',
      content: text,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const results = calls.map(({ id }): Message => ({ role: 'tool', content: '2', tool_call_id: id }));
    return { ...state, response, stepCount: state.stepCount + 1, said: [...state.said, answer, ...results] };
  },
  isTerminal: ({ said }) => said.at(-1)!.role === 'assistant',
  metrics: ({ stepCount }) => ({ responses: stepCount }),
};

const task = (id = 'a'): Task => ({ id, prompt: 'Why?', metadata: undefined });

async function play(
  onEvent: RolloutSink | RolloutSink[],
  { groupSize = 1, tasks = [task()], clock }: Play = {},
) {
  let answers = 0;
  const policy = mockPolicy({ speak: () => (answers++ < groupSize ? call : 'done') });
  const dependencies = { environment: shop, ...policy, onEvent, clock };
  const manager = new RolloutManager(dependencies, { groupSize });
  const groups = [];
  for await (const group of manager.collectGroups(tasks)) groups.push(group);
  return { manager, groups };
}

interface Play {
  readonly groupSize?: number;
  readonly tasks?: readonly Task[];
  readonly clock?: () => number;
}

describe('events', () => {
  it('tell an episode in order, and are records', async () => {
    const events: RolloutEvent[] = [];
    const { groups } = await play((event) => events.push(event));
    expect(events.map(({ type }) => type)).toEqual([
      'episode-started',
      'turn-sampled',
      'tool-called',
      'state-updated',
      'turn-sampled',
      'state-updated',
      'episode-ended',
    ]);
    expect(events.every(({ episode, task: of }) => episode === '0/a/0' && of === 'a')).toBe(true);
    expect(events[1]).toMatchObject({ index: 0, step: { text: call, behaviorLogprobs: expect.any(Array) } });
    expect(events[2]).toMatchObject({ index: 0, call: { function: { name: 'add' } }, result: '2' });
    expect(events[3]).toMatchObject({ messages: [{ role: 'tool', content: '2' }] });
    expect(events[5]).toMatchObject({ index: 1, messages: [] });
    expect(events[6]).toMatchObject({ trajectory: groups[0]!.trajectories[0] });
    for (const event of events) {
      const stored: unknown = JSON.parse(JSON.stringify(event));
      expect(JSON.parse(JSON.stringify(rolloutEventSchema.parse(stored)))).toEqual(stored);
    }
  });

  it('of an episode that is over when it begins say nothing of an answer', async () => {
    const events: RolloutEvent[] = [];
    const environment = mockEnvironment({ turns: 0 });
    const manager = new RolloutManager(
      { environment, ...mockPolicy(), onEvent: (event) => events.push(event) },
      { groupSize: 1 },
    );
    for await (const _ of manager.collectGroups([task()]));
    expect(events.map(({ type }) => type)).toEqual(['episode-started', 'episode-ended']);
  });

  it('of an episode whose last state cannot be shown end with its end', async () => {
    const events: RolloutEvent[] = [];
    const environment: Environment = {
      ...mockEnvironment(),
      buildPrompt: ({ stepCount }) => {
        if (stepCount > 0) throw new Error('over');
        return 'Why?';
      },
    };
    const dependencies = {
      environment,
      ...mockPolicy(),
      onEvent: (event: RolloutEvent) => events.push(event),
    };
    for await (const { trajectories } of new RolloutManager(dependencies, { groupSize: 1 }).collectGroups([
      task(),
    ]))
      expect(trajectories).toMatchObject([{ status: 'completed' }]);
    expect(events.map(({ type }) => type)).toEqual(['episode-started', 'turn-sampled', 'episode-ended']);
  });

  it('have the time, if there is a clock', async () => {
    let now = 0;
    const events: RolloutEvent[] = [];
    await play((event) => events.push(event), { clock: () => now++ });
    expect(events.every(({ atMs }) => atMs !== undefined)).toBe(true);
    expect(events.find(({ type }) => type === 'state-updated')).toMatchObject({ environmentMs: 1 });
  });

  it('of a world that shows text have what it says, and results of calls by their place', async () => {
    const answered = async (environment: Environment, said: string) => {
      const events: RolloutEvent[] = [];
      const manager = new RolloutManager(
        { environment, ...mockPolicy({ speak: () => said }), onEvent: (event) => events.push(event) },
        { groupSize: 1 },
      );
      for await (const _ of manager.collectGroups([task()]));
      return events;
    };
    const text: Environment = {
      ...mockEnvironment(),
      buildPrompt: ({ stepCount }) => (stepCount === 0 ? 'Why?' : 'Why?ok Really?'),
    };
    expect((await answered(text, 'ok')).find(({ type }) => type === 'state-updated')).toMatchObject({
      messages: [{ role: 'user', content: ' Really?' }],
    });
    const nameless: Environment = {
      ...mockEnvironment(),
      buildPrompt: ({ stepCount, response }) => [
        { role: 'user', content: 'Why?' },
        ...(stepCount === 0
          ? []
          : ([
              { role: 'assistant', content: response },
              { role: 'tool', content: 'first' },
              { role: 'tool', content: 'second' },
            ] as const)),
      ],
    };
    const called = (await answered(nameless, call.repeat(2))).filter((event) => event.type === 'tool-called');
    expect(called.map(({ result }) => result)).toEqual(['first', 'second']);
  });

  it('cost nothing but a note if a sink fails', async () => {
    const seen: RolloutEvent[] = [];
    const throwing = () => {
      throw new Error('full');
    };
    const { groups, manager } = await play([throwing, async () => throwing(), (event) => seen.push(event)], {
      groupSize: 2,
    });
    await Promise.resolve();
    expect(groups[0]!.trajectories.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(seen.length).toBeGreaterThan(10);
    const note = 'a sink of rollout events failed, and the rollout goes on: full';
    expect(manager.takeNotes()).toEqual([note, note]);
  });
});

describe('debugLogger', () => {
  it('says what was seen, said, called and answered, and how it ended', async () => {
    const lines: string[] = [];
    const logger = debugLogger((line) => lines.push(line));
    const { manager, groups } = await play(logger);
    const trajectory = groups[0]!.trajectories[0]!;
    manager.tell({
      type: 'reward-given',
      episode: trajectory.id,
      task: 'a',
      trajectory,
      reward: 0.5,
      components: { right: 0.5 },
    });
    expect(lines.every((line) => line.startsWith('[0/a/0] '))).toBe(true);
    expect(lines.map((line) => line.slice('[0/a/0] '.length))).toEqual([
      'started, task a',
      `step 0 saw [{"role":"user","content":"Why?"}] said ${JSON.stringify(call)} (58 tokens, logprob -29.000, stop, version 0)`,
      'step 0 called add({"a":1}) got "2"',
      'step 0 was answered [{"role":"tool","content":"2"}]',
      'step 1 saw [{"role":"tool","content":"2"}] said "done" (5 tokens, logprob -2.500, stop, version 0)',
      'step 1 was answered []',
      'ended: completed, environment after 2 steps; metrics {"responses":2}',
      'reward 0.5 {"right":0.5}',
    ]);
  });
});

describe('recordTrajectories', () => {
  it('writes every n-th, as lines that can be read again', async () => {
    const lines: string[] = [];
    const sink = recordTrajectories({ every: 3, write: (line) => lines.push(line) });
    const { groups } = await play(sink, { groupSize: 4, tasks: [task('a'), task('b')] });
    const read = trajectoriesFromJsonl(lines.join('\n'));
    expect(read).toHaveLength(3);
    const all = groups.flatMap(({ trajectories }) => trajectories.map(({ id }) => id));
    expect(read.every(({ id }) => all.includes(id))).toBe(true);
  });

  it('writes those that a condition picks, by their reward too', async () => {
    const lines: string[] = [];
    const sink = recordTrajectories({
      on: 'reward-given',
      when: (_, score) => (score?.reward ?? 0) > 0,
      write: (line) => lines.push(line),
    });
    const { manager, groups } = await play(sink, { groupSize: 2 });
    expect(lines).toEqual([]);
    for (const [at, trajectory] of groups[0]!.trajectories.entries()) {
      manager.tell({
        type: 'reward-given',
        episode: trajectory.id,
        task: 'a',
        trajectory,
        reward: at,
        components: {},
      });
    }
    expect(trajectoriesFromJsonl(lines.join('\n')).map(({ id }) => id)).toEqual(['0/a/1']);
  });

  it('names an option that it does not know', () => {
    const write = () => undefined;
    expect(() => recordTrajectories({ write, evry: 2 } as never)).toThrow('did you mean every?');
  });
});

describe('progress', () => {
  it('counts what runs, whom it waits for, and the slowest episode', async () => {
    let now = 0;
    const seen: RolloutProgress[] = [];
    const policy = mockPolicy({
      delay() {
        seen.push(manager.progress());
        return 0;
      },
    });
    const environment = mockEnvironment({ turns: 3 });
    const dependencies = { environment, ...policy, clock: () => (now += 50) };
    const manager: RolloutManager = new RolloutManager(dependencies, { groupSize: 2, concurrency: 2 });
    for await (const _ of manager.collectGroups(['a', 'b', 'c'].map(task)));
    expect(seen.some(({ groups }) => groups.running === 2 && groups.queued === 1)).toBe(true);
    expect(seen.some(({ episodes }) => episodes.waitingFor.sampler > 1)).toBe(true);
    expect(seen.some(({ tokensPerSecond }) => (tokensPerSecond ?? 0) > 0)).toBe(true);
    expect(seen.at(0)!.slowest).toMatchObject({ episode: '0/a/0', task: 'a', turns: 0, waitsFor: 'sampler' });
    expect(seen.at(-1)!.slowest!.ageMs).toBeGreaterThan(0);
    expect(manager.progress()).toMatchObject({
      groups: { queued: 0, running: 0, yielded: 3 },
      episodes: { running: 0, ended: 0 },
    });
    expect(progressLine(seen.at(-1)!)).toMatch(/groups done, .* running, .*tokens\/s; slowest .* waits for/);
  });
});

it('progressLine leaves out what is not known', () => {
  const waitingFor = { start: 0, sampler: 2, environment: 1, nothing: 0 };
  const known = {
    groups: { queued: 4, running: 1, yielded: 3 },
    episodes: { running: 3, ended: 1, waitingFor },
  };
  const line =
    '3 groups done, 1 running, 4 queued; ' +
    '3 episodes running (2 wait for the sampler, 1 for the environment), 1 ended';
  expect(progressLine(known)).toBe(line);
  const slowest = { episode: '0/a/1', task: 'a', turns: 2, waitsFor: 'sampler' as const };
  expect(progressLine({ ...known, tokensPerSecond: 12.6, slowest: { ...slowest, ageMs: 2340 } })).toBe(
    `${line}; 13 tokens/s; slowest 0/a/1: 2 turns in 2.3 s, waits for sampler`,
  );
  expect(progressLine({ ...known, slowest })).toBe(`${line}; slowest 0/a/1: 2 turns, waits for sampler`);
});

it('counts episodes that had ended before their group was resumed', async () => {
  const ended: number[] = [];
  const policy = mockPolicy({
    delay() {
      ended.push(manager.progress().episodes.ended);
      return 0;
    },
  });
  const manager: RolloutManager = new RolloutManager(
    { environment: mockEnvironment({ turns: 2 }), ...policy },
    { groupSize: 2 },
  );
  const groups = [];
  for await (const group of manager.collectGroups([task()])) groups.push(group);
  const [over, open] = groups[0]!.trajectories;
  const state = { prompt: 'Why?', response: 'ok', stepCount: 1 };
  const pending = { ...open!, status: 'pending' as const, steps: open!.steps.slice(0, 1), state };
  ended.length = 0;
  for await (const _ of manager.resume([over!, pending]));
  expect(ended).toEqual([1]);
});

describe('concurrentEpisodes', () => {
  it('gives the place of an episode that ended to the next group', async () => {
    const order: string[] = [];
    const policy = mockPolicy({
      speak: (_, stream) => (stream.integer(2) === 0 ? 'over' : 'ok'),
      // The later turns of the first group take long.
      delay: ({ prompt, count }) => {
        const asked = policy.tokenizer.decode(prompt);
        order.push(asked);
        return asked.startsWith('a') && count === 1 ? 30 : 0;
      },
    });
    const environment: Environment = {
      ...mockEnvironment(),
      isTerminal: ({ stepCount, response }) => stepCount === 2 || response === 'over',
    };
    const manager = new RolloutManager(
      { environment, ...policy },
      { groupSize: 8, concurrentEpisodes: 15, concurrency: 2 },
    );
    const ended: string[] = [];
    const tasks = ['a', 'b'].map((id) => ({ ...task(id), prompt: id }));
    const onEnded = ({ id }: Trajectory) => void ended.push(id);
    const collecting = (async () => {
      for await (const _ of manager.collectGroups(tasks, { onEnded }));
    })();
    await collecting;
    const before = ended.slice(
      0,
      ended.findIndex((id) => id.startsWith('0/b/')),
    );
    expect(before.length).toBeLessThan(8);
    expect(before.length).toBeGreaterThan(0);
  });

  it('bounds the episodes of all groups', async () => {
    const most = { value: 0 };
    const policy = mockPolicy({
      delay() {
        most.value = Math.max(most.value, manager.progress().episodes.running);
        return 1;
      },
    });
    const manager: RolloutManager = new RolloutManager(
      { environment: mockEnvironment({ turns: 2 }), ...policy },
      { groupSize: 2, concurrentEpisodes: 5 },
    );
    const ids = [];
    for await (const { id } of manager.collectGroups(Array.from({ length: 9 }, (_, at) => task(`t${at}`))))
      ids.push(id);
    expect(ids).toHaveLength(9);
    expect(most.value).toBeLessThanOrEqual(5);
    expect(most.value).toBeGreaterThan(2);
  });

  it('lets a group through that is larger than it', async () => {
    const manager = new RolloutManager(
      { environment: mockEnvironment(), ...mockPolicy() },
      { groupSize: 4, concurrentEpisodes: 3 },
    );
    let groups = 0;
    for await (const _ of manager.collectGroups(['a', 'b'].map(task))) groups += 1;
    expect(groups).toBe(2);
  });
});

it.each([
  ['num_parallel', 'in rlp this is concurrency'],
  ['maintain_parallel_count', 'a group begins as soon as another ends'],
  ['verbose', 'debugLogger'],
  ['enable_progress_bar', 'progressLine'],
])('says what %s is here', (name, advice) => {
  const dependencies = { environment: mockEnvironment(), ...mockPolicy() };
  expect(() => new RolloutManager(dependencies, { [name]: 1 } as never)).toThrow(advice);
});
