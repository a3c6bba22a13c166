import { type Environment, type OpenWorld, type RandomStream, toolCallFormats, type World } from '@rlp/core';
import {
  ConversationEnvironment,
  createWorldPool,
  withLimits,
  withRetries,
  withWorld,
  worldTool,
} from '@rlp/env';
import { createSqlWorld, sqlTool } from '@rlp/env/sql';
import { gameEnvironment, type SqlQuestionsSetup, sqlQuestions } from '@rlp/env/stock';
import { RolloutManager } from '@rlp/rollout';
import { mockPolicy } from '@rlp/rollout/testing';
import { afterAll, expect, it } from 'vitest';
import * as z from 'zod';

const sqlWorld = createSqlWorld<SqlQuestionsSetup>({
  setup: ({ metadata }) => metadata.sql,
  timeoutMs: 20_000,
});
afterAll(() => sqlWorld.close());

const tasks = [0, 1].flatMap((difficulty) => sqlQuestions.tasks({ count: 2, difficulty, seed: 'agent' }));
const queryOf = (sql: string) => toolCallFormats.hermes.write([{ name: 'query', arguments: { sql } }]);

/** Queries as a member of the group that knows how, and answers with what the database said. */
function speak(prompt: string, stream: RandomStream): string {
  const rows = prompt.split('"rows":[[').at(-1)!;
  if (rows !== prompt) return `<answer>${rows.split(']')[0]!.replaceAll('"', '')}</answer>`;
  const task = tasks.find(({ metadata }) => prompt.includes(metadata.question));
  return stream.uniform() < 0.2 ? 'I guess 3.5' : queryOf(task!.metadata.query);
}

/** One pass over the tasks with so many worlds. */
async function collected(maxOpen: number) {
  const pool = createWorldPool(sqlWorld, { maxOpen });
  const environment = withWorld(gameEnvironment(sqlQuestions), pool, [sqlTool()]);
  const manager = new RolloutManager(
    { environment, ...mockPolicy({ speak }) },
    { groupSize: 4, maxTurns: 4, sampling: { maxTokens: 1000 } },
  );
  const trajectories = [];
  for await (const group of manager.collectGroups(tasks)) trajectories.push(...group.trajectories);
  const statistics = manager.getStatistics();
  await pool.close();
  return { trajectories, statistics };
}

it('questions about a database are answered by queries of the policy', async () => {
  const { trajectories, statistics } = await collected(2);
  expect(trajectories.map(({ failure }) => failure?.message)).toEqual(trajectories.map(() => undefined));
  for (const { outcome, metrics } of trajectories)
    expect(outcome).toMatchObject({ isSolved: metrics!['world/calls'] === 1, turns: 1 });
  const solved = trajectories.filter(({ outcome }) => outcome?.isSolved).length;
  expect(solved).toBeGreaterThan(trajectories.length / 2);
  expect(solved).toBeLessThan(trajectories.length);
  expect(statistics.worlds).toMatchObject({ opened: tasks.length, waiting: 0, leaked: 0 });
  expect(statistics.worlds!.open).toBeLessThanOrEqual(2);
}, 60_000);

it('a world that cannot be closed is in the statistics and in the notes', async () => {
  const stuck: World<OpenWorld> = {
    open: async () => ({
      snapshot: async () => 'same',
      close: async () => Promise.reject(new Error('busy')),
    }),
    restore: async () => ({ snapshot: async () => 'same', close: async () => undefined }),
  };
  await using pool = createWorldPool(stuck, { maxOpen: 1, onLeak: () => undefined });
  const look = worldTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({}),
    execute: () => 'dust',
  });
  const within = withWorld(new ConversationEnvironment(), pool, [look]);
  const environment = withLimits(withRetries(within) as Environment, { maxTurns: 3 });
  const manager = new RolloutManager({ environment, ...mockPolicy() }, { groupSize: 1 });
  const told: (readonly string[])[] = [];
  for (const id of ['a', 'b', 'c']) {
    for await (const _ of manager.collectGroups([{ id, prompt: 'Clean.', metadata: undefined }]));
    told.push(manager.takeNotes());
  }
  const note = ['1 world could not be closed and may still hold files or memory'];
  expect(told).toEqual([[], note, note]);
  expect(manager.getStatistics().worlds).toMatchObject({ opened: 3, leaked: 2 });
});
