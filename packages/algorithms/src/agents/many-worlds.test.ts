import { type Environment, RandomStream, type State } from '@rlp/core';
import {
  ConversationEnvironment,
  createWorldPool,
  type WorldToolContext,
  withRetries,
  withWorld,
  worldTool,
} from '@rlp/env';
import { RolloutManager } from '@rlp/rollout';
import { mockPolicy } from '@rlp/rollout/testing';
import { expect, it } from 'vitest';
import * as z from 'zod';

/** A counter as a world. Opening and restoring take time, and fail now and then. */
function counters() {
  const live = new Set<object>();
  let most = 0;
  let made = 0;
  const make = async (value: number) => {
    made += 1;
    // Drawn: a fixed rhythm can meet the same episode at every attempt, if all episodes walk in step.
    const fails = RandomStream.named('fails', made).uniform() < 1 / 11;
    await new Promise((resolve) => setTimeout(resolve, made % 3));
    if (fails) throw Object.assign(new Error('busy'), { code: 'ECONNRESET' });
    const counter = {
      value,
      snapshot: async () => String(counter.value),
      close: async () => void live.delete(counter),
    };
    live.add(counter);
    most = Math.max(most, live.size);
    return counter;
  };
  return {
    world: {
      open: (_: unknown, seed: number) => make(seed % 100),
      restore: (id: string) => make(Number(id)),
    },
    counts: () => ({ live: live.size, most }),
  };
}
type Counter = Awaited<ReturnType<ReturnType<typeof counters>['world']['open']>>;

const add = worldTool({
  name: 'add',
  description: 'Adds.',
  parameters: z.object({ n: z.int() }),
  execute: async ({ n }, { world }: WorldToolContext<Counter>) => {
    world.value += n;
    await new Promise((resolve) => setTimeout(resolve, n % 2));
    if (n === 7) throw new Error('no sevens');
    return world.value;
  },
});
const call = (n: number) => `<tool_call>${JSON.stringify({ name: 'add', arguments: { n } })}</tool_call>`;
const speak = (_: string, stream: RandomStream) =>
  stream.uniform() < 0.2
    ? 'Done.'
    : Array.from({ length: 1 + stream.integer(2) }, () => call(1 + stream.integer(8))).join('');

/** What came of 10 groups of 8 episodes, with at most so many worlds. */
async function outcomes(maxOpen: number) {
  const { world, counts } = counters();
  const leaks: string[] = [];
  const pool = createWorldPool(world, { maxOpen, onLeak: (message) => leaks.push(message) });
  const environment: Environment<State> = withRetries(
    withWorld(new ConversationEnvironment(), pool, [add], { observe: ({ value }) => value }),
    { attempts: 10, firstWaitMs: 1, longestWaitMs: 2 },
  ) as never;
  const manager = new RolloutManager(
    { environment, ...mockPolicy({ speak }) },
    { groupSize: 8, maxTurns: 6, sampling: { maxTokens: 500 } },
  );
  const tasks = Array.from({ length: 10 }, (_, id) => ({
    id: String(id),
    prompt: 'Count.',
    metadata: undefined,
  }));
  const ends: (readonly unknown[])[] = [];
  for await (const { trajectories } of manager.collectGroups(tasks)) {
    for (const { id, status, outcome, messages } of trajectories)
      ends.push([id, status, outcome, messages.length]);
  }
  const before = counts();
  await pool.close();
  return {
    ends: ends.sort(),
    most: before.most,
    left: counts().live,
    leaks,
    statistics: pool.getStatistics(),
  };
}

it('many episodes over few worlds come out as over many, and all worlds are closed', {
  timeout: 60_000,
}, async () => {
  const [few, many] = [await outcomes(3), await outcomes(500)];
  expect(few.ends).toHaveLength(80);
  expect(few.ends).toEqual(many.ends);
  expect(few.ends.filter(([, status]) => status === 'failed')).toEqual([]);
  expect(few.most).toBeLessThanOrEqual(3);
  for (const { left, leaks, statistics } of [few, many]) {
    expect([left, leaks, statistics.open, statistics.waiting, statistics.leaked]).toEqual([0, [], 0, 0, 0]);
  }
});
