import { RandomStream, type Task, type TaskSource, type TrajectoryGroup } from '@rlp/core';
import { describe, expect, it, vi } from 'vitest';
import {
  RolloutManager,
  type RolloutStreamOptions,
  type RolloutStreamState,
  rolloutStream,
  rolloutStreamStateSchema,
} from '../index.ts';
import { mockEnvironment, mockPolicy, type Speak } from '../testing.ts';

function endless(limit = Number.POSITIVE_INFINITY): TaskSource<undefined> {
  let cursor = 0;
  return {
    get cursor() {
      return cursor;
    },
    take: (count) =>
      Array.from({ length: Math.min(count, limit - cursor) }, (): Task<undefined> => {
        const id = `t${cursor++}`;
        return { id, prompt: id, metadata: undefined };
      }),
    seek: (to) => {
      cursor = to;
    },
  };
}

const babble: Speak = (_, stream) => String(stream.integer(1000));

function manage(delay: (prompt: string) => number = () => 0, turns = 2) {
  let version = 0;
  const policy = mockPolicy({
    speak: babble,
    delay: ({ prompt }) => delay(policy.tokenizer.decode(prompt)),
    policyVersion: () => version,
  });
  const manager = new RolloutManager<never, undefined>(
    { environment: mockEnvironment({ turns }) as never, ...policy },
    { groupSize: 2, concurrency: 32 },
  );
  return {
    manager,
    publish() {
      version += 1;
    },
    version: () => version,
  };
}

async function take<Item>(stream: AsyncIterator<Item>, count: number): Promise<Item[]> {
  const items: Item[] = [];
  for (let at = 0; at < count; at++) {
    const { value, done } = await stream.next();
    if (done) break;
    items.push(value);
  }
  return items;
}

/** How many publications old each group is when it is handed out, over two streams, the second of which goes on from the first. */
async function agesOf(
  schedule: string,
  plan: Omit<RolloutStreamOptions<undefined, unknown>, 'tasks' | 'resume'>,
): Promise<number[]> {
  const random = RandomStream.named('ages', schedule);
  const { manager, publish, version } = manage(() => random.integer(4));
  const { batch = 3, ...rest } = plan;
  const ages: number[] = [];
  let resume: RolloutStreamState | undefined;
  for (const count of [14, 16]) {
    const stream = rolloutStream(manager, { tasks: endless(), batch, inFlight: 12, ...rest, resume });
    for (let at = 0; at < count; at++) {
      const [group] = await take(stream, 1);
      ages.push(version() - group!.trajectories[0]!.policyVersion);
      if (ages.length % batch === 0) publish();
    }
    resume = JSON.parse(JSON.stringify(stream.saveState())) as RolloutStreamState;
    await stream.return!();
  }
  return ages;
}

const idsOf = (groups: readonly { readonly id: string }[]) => groups.map(({ id }) => id);
const slow =
  (id: string, ms = 60) =>
  (prompt: string) =>
    prompt.startsWith(id) ? ms : 1;

describe('rolloutStream', () => {
  it('yields groups as they finish: a straggler delays only itself', async () => {
    const { manager } = manage(slow('t1'));
    const stream = rolloutStream(manager, { tasks: endless(), batch: 4, inFlight: 8 });
    const groups = await take(stream, 12);
    expect(idsOf(groups.slice(0, 4))).not.toContain('1/t1');
    expect(new Set(idsOf(groups)).size).toBe(12);
    await stream.return!();
    await expect.poll(() => manager.unfinished()).toEqual([]);
  });

  it('makes each group what its place and task make it, whatever the timing', async () => {
    const collect = async (schedule: string) => {
      const random = RandomStream.named(schedule);
      const { manager } = manage(() => random.integer(8));
      const groups = await take(rolloutStream(manager, { tasks: endless(), batch: 4, inFlight: 6 }), 10);
      return new Map(groups.map((group) => [group.id, group]));
    };
    const [one, other] = [await collect('a'), await collect('b')];
    const common = [...one].filter(([id]) => other.has(id));
    expect(common.length).toBeGreaterThan(5);
    for (const [id, group] of common) expect(other.get(id)).toEqual(group);
  });

  it('with over-sampling takes the first that finish, and carries the others on', async () => {
    const { manager } = manage(slow('t0', 40));
    const stream = rolloutStream(manager, { tasks: endless(), batch: 4, overSampling: 1.5 });
    const ids = idsOf(await take(stream, 4));
    expect(ids).not.toContain('0/t0');
    const later: string[] = [];
    while (!later.includes('0/t0') && later.length < 100_000) later.push(...idsOf(await take(stream, 4)));
    expect(later).toContain('0/t0');
    await stream.return!();
  });

  it('with keep takes the best of new groups, and the others compete once more', async () => {
    const { manager } = manage();
    const worth = ({ task }: TrajectoryGroup) => Number(task.id.slice(1)) % 3;
    const stream = rolloutStream(manager, { tasks: endless(), batch: 2, overSampling: 2, keep: worth });
    expect(idsOf(await take(stream, 2))).toEqual(['1/t1', '2/t2']);
    const later = await take(stream, 30);
    expect(new Set(idsOf(later)).size).toBe(30);
    expect(later.every((group) => worth(group) > 0)).toBe(true);
    await stream.return!();
  });

  it.each([
    { keep: undefined, overSampling: 1, most: 7 },
    { keep: undefined, overSampling: 2, most: 9 },
    { keep: ({ task }: TrajectoryGroup) => Number(task.id.slice(1)) % 3, overSampling: 1, most: 2 * 7 },
    { keep: ({ task }: TrajectoryGroup) => Number(task.id.slice(1)) % 3, overSampling: 3, most: 2 * 11 },
  ])('begins a bounded number of groups while the consumer learns: $most, $overSampling', async (given) => {
    const { keep, overSampling, most } = given;
    const { manager } = manage();
    const stream = rolloutStream(manager, { tasks: endless(), batch: 2, inFlight: 5, overSampling, keep });
    const seen = new Set<string>();
    const ahead: number[] = [];
    for (let batch = 0; batch < 8; batch++) {
      for (const id of idsOf(await take(stream, 2))) seen.add(id);
      // All that may begin comes to its end: the consumer alone decides when more do.
      await vi.waitFor(() => {
        const { unfinished } = stream.saveState();
        expect(unfinished.every(({ status }) => status === 'completed')).toBe(true);
        ahead.push(new Set(unfinished.map(({ group }) => group!.id)).size);
      });
    }
    expect(seen.size).toBe(16);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(most);
    await stream.return!();
  });

  const worth = ({ task }: TrajectoryGroup) => Number(task.id.slice(1)) % 5;
  it.each([
    { maxStaleness: 0, most: 0 },
    { maxStaleness: 3, most: 3 },
    { maxStaleness: 2, batch: 1, most: 2 },
    { maxStaleness: 3, keep: worth, most: 3 },
    { maxStaleness: 1, overSampling: 3, batch: 1, most: 3 },
    { maxStaleness: 2, overSampling: 2, keep: worth, most: 2 },
  ])('waits for what would grow too old, also after a resume: %o', async ({ most, ...given }) => {
    const ages = await Promise.all(['a', 'b'].map((schedule) => agesOf(schedule, given)));
    expect(Math.max(...ages.flat())).toBeLessThanOrEqual(most);
    if (most > 0) expect(Math.max(...ages.flat())).toBeGreaterThan(0);
  });

  it('goes on from the middle of a batch in which nothing new may begin', async () => {
    const plan = { batch: 4, inFlight: 12, maxStaleness: 0 };
    const first = rolloutStream(manage().manager, { tasks: endless(), ...plan });
    await take(first, 2);
    const resume = first.saveState();
    await first.return!();
    const second = rolloutStream(manage().manager, { tasks: endless(), ...plan, resume });
    expect(idsOf(await take(second, 6))).toHaveLength(6);
    await second.return!();
  });

  it('waits for a straggler that is due rather than let it grow older', async () => {
    const { manager } = manage(slow('t0', 40));
    const stream = rolloutStream(manager, { tasks: endless(), batch: 2, inFlight: 8, maxStaleness: 1 });
    expect(idsOf(await take(stream, 4))).toContain('0/t0');
    await stream.return!();
  });

  it('goes on from its state as JSON: nothing is lost, nothing comes twice', async () => {
    const expected = await take(rolloutStream(manage().manager, { tasks: endless(), batch: 4 }), 40);
    const random = RandomStream.named('stop');
    const { manager } = manage(() => random.integer(6), 3);
    const first = rolloutStream(manager, { tasks: endless(), batch: 4, inFlight: 8 });
    const before = await take(first, 6);
    const state = rolloutStreamStateSchema.parse(JSON.parse(JSON.stringify(first.saveState())));
    await first.return!();
    expect(state).toMatchObject({ yielded: 6 });
    expect(state.unfinished.some(({ status }) => status === 'pending')).toBe(true);
    const second = rolloutStream(manage(() => 0, 3).manager, {
      tasks: endless(),
      batch: 4,
      inFlight: 8,
      resume: state,
    });
    const ids = [...idsOf(before), ...idsOf(await take(second, 30))];
    expect(new Set(ids).size).toBe(36);
    for (let at = 0; at < 14; at++) expect(ids).toContain(expected[at]!.id);
    await second.return!();
  });

  it('begins each group as an iteration of its own, also after a resume', async () => {
    const { manager } = manage();
    const iterations: unknown[] = [];
    const rollouts = {
      ...{ options: manager.options, unfinished: () => [] },
      resume: () => expect.unreachable(),
      collectGroups: (...[tasks, options]: Parameters<typeof manager.collectGroups>) => {
        iterations.push(options!.iteration);
        return manager.collectGroups(tasks, options);
      },
    };
    const resume = { begun: 6, yielded: 6, taskCursor: 6, unfinished: [] };
    const stream = rolloutStream(rollouts, { tasks: endless(), batch: 2, maxStaleness: 0, resume });
    expect(idsOf(await take(stream, 2)).toSorted()).toEqual(['6/t6', '7/t7']);
    expect(iterations).toEqual([6, 7]);
    await stream.return!();
  });

  it('lets a group that lost compete once more, and drops it once it lost twice', async () => {
    const worths = [5, 9, 1, 2, 0.5, 0.4];
    const keep = ({ task }: TrajectoryGroup) => worths[Number(task.id.slice(1))] ?? 0;
    const plan = { tasks: endless(), batch: 1, inFlight: 2, overSampling: 2, keep };
    const stream = rolloutStream(manage().manager, plan);
    // Two new groups a batch. The group 2 loses twice, and would be the best of the fourth batch.
    expect(idsOf(await take(stream, 4))).toEqual(['1/t1', '0/t0', '3/t3', '4/t4']);
    await stream.return!();
  });

  it('with keep lets a straggler of a later batch delay only itself, too', async () => {
    const { manager } = manage(slow('t10', 100));
    const plan = { batch: 2, inFlight: 4, maxStaleness: 4, keep: () => 1 };
    const stream = rolloutStream(manager, { tasks: endless(), ...plan });
    const ids = idsOf(await take(stream, 14));
    expect(ids).not.toContain('10/t10');
    expect(ids).toContain('11/t11');
    await stream.return!();
  });

  it('leaves what else its manager collects out of its state', async () => {
    const { manager } = manage(() => 20);
    const other = take(manager.collectGroups([{ id: 'other', prompt: 'x', metadata: undefined }]), 1);
    const stream = rolloutStream(manager, { tasks: endless(2), batch: 1, inFlight: 2 });
    const first = take(stream, 1);
    await expect.poll(() => manager.unfinished().length, { interval: 1 }).toBe(6);
    const seen = new Set(stream.saveState().unfinished.map(({ task }) => task.id));
    expect(seen).toEqual(new Set(['t0', 't1']));
    await Promise.all([other, first]);
    await stream.return!();
  });

  it('ends with its signal, and with its tasks', async () => {
    const controller = new AbortController();
    const { manager } = manage(() => 5);
    const stream = rolloutStream(manager, { tasks: endless(), batch: 2, signal: controller.signal });
    await take(stream, 1);
    controller.abort();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(stream.saveState().unfinished.length).toBeGreaterThan(0);
    const finite = rolloutStream(manage().manager, { tasks: endless(5), batch: 2, inFlight: 4 });
    expect(await take(finite, 99)).toHaveLength(5);
  });

  it('throws what a collection throws', async () => {
    const broken = { ...mockEnvironment(), reset: () => Promise.reject(new Error('no world')) };
    const manager = new RolloutManager({ environment: broken, ...mockPolicy() }, { onFailure: 'stop' });
    const stream = rolloutStream(manager, { tasks: endless() as TaskSource, batch: 2 });
    await expect(stream.next()).rejects.toThrow(
      expect.objectContaining({ message: expect.stringContaining('no world') }),
    );
  });

  it('that has not gone on yet has the state that it was given', async () => {
    const first = rolloutStream(manage(() => 5).manager, { tasks: endless(), batch: 4 });
    await take(first, 1);
    const resume = first.saveState();
    await first.return!();
    expect(resume.unfinished.length).toBeGreaterThan(0);
    const second = rolloutStream(manage().manager, { tasks: endless(), batch: 4, resume });
    const { unfinished, ...state } = second.saveState();
    expect({ ...state, unfinished: idsOf(unfinished).toSorted() }).toEqual({
      ...resume,
      unfinished: idsOf(resume.unfinished).toSorted(),
    });
  });

  it('refuses tasks, a worth and a state that it cannot use, all at once', () => {
    const wrong = { tasks: [], keep: 'best', resume: {} };
    expect(() => rolloutStream(manage().manager, wrong as never)).toThrow(
      /tasks: must be a task source[\s\S]*keep: must be a function[\s\S]*resume\.begun: expected a number/,
    );
  });

  it('refuses a manager that runs fewer groups', () => {
    const { manager } = manage();
    expect(() => rolloutStream(manager, { tasks: endless(), inFlight: 33 })).toThrow(
      "raise the manager's concurrency",
    );
    expect(() => rolloutStream(manager, { tasks: endless(), overSampling: 0.5 })).toThrow('overSampling');
  });
});
