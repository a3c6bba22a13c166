import type { Environment, Message, State } from '@rlp/core';
import { describeEnvironment, describeWorld } from '@rlp/core/testing';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  ConversationEnvironment,
  createWorldPool,
  memoryStore,
  withTools,
  withWorld,
  worldTool,
} from '../index.ts';
import { tool } from '../tools/tool.ts';
import { type Words, wordWorld } from './value-world.fixture.ts';
import type { WorldToolContext } from './with-world.ts';
import type { WorldPoolOptions } from './world-pool.ts';

const task = { id: 't', prompt: 'Add words.', metadata: undefined };
const call = (word: string) =>
  `<tool_call>${JSON.stringify({ name: 'add', arguments: { word } })}</tool_call>`;
const add = worldTool({
  name: 'add',
  description: 'Adds a word.',
  parameters: z.object({ word: z.string() }),
  timeoutMs: 30,
  execute: ({ word }, { world }: WorldToolContext<Words>) => world.add(word),
});
const dialogue = () => new ConversationEnvironment({ maxTurns: 9, nextUserTurn: () => 'More.' });
const over = (world = wordWorld(), options: WorldPoolOptions = {}) => {
  const pool = createWorldPool(world, options);
  const environment = withWorld(dialogue(), pool, [add], { observe: ({ words }) => words });
  return { world, pool, environment };
};
async function play<S extends State>(environment: Environment<S>, responses: readonly string[]) {
  let state = await environment.reset(task, 1);
  for (const response of responses) state = await environment.updateState(state, response);
  return state;
}
const results = <S extends State>(environment: Environment<S>, state: S) =>
  (environment.buildPrompt(state) as readonly Message[]).flatMap(({ role, content }) =>
    role === 'tool' ? [content] : [],
  );

describeWorld('a list of words', {
  create: () => wordWorld(),
  task,
  act: (words) => words.add('more'),
  read: ({ words }) => words,
});

const pools: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(pools.map((pool) => pool.close())));
const contract = () => {
  const { pool, environment } = over();
  pools.push(pool);
  return environment;
};
const words = [call('a'), call('b') + call('c'), 'So?', call('fail'), call('d'), 'Done.'];
describeEnvironment('a world', { create: contract, task, responses: words });
describeEnvironment('a world with tools', {
  create: () =>
    withTools(contract(), [
      tool({ name: 'ask', description: 'Asks.', parameters: z.object({}), execute: () => 'yes' }),
    ]),
  task,
  responses: ['<tool_call>{"name": "ask"}</tool_call>', ...words],
});

describe('withWorld', () => {
  it('acts in order, and keeps in the state what the world is', async () => {
    const { environment, pool } = over();
    const state = await play(environment, [call('a') + call('b'), call('c')]);
    expect(results(environment, state)).toEqual(['3', '4', '5']);
    expect(environment.outcome?.(state)).toEqual(['t', '1', 'a', 'b', 'c']);
    expect(state.place.id).toBe('["t","1","a","b","c"]');
    expect(pool.getStatistics()).toMatchObject({ open: 1, idle: 1, opened: 1, restored: 0, reused: 2 });
    await pool.close();
  });

  it('tells states of other worlds apart, where the environment has keys', async () => {
    const keyed = Object.assign(dialogue(), { stateKey: ({ stepCount }: State) => `step ${stepCount}` });
    const pool = createWorldPool(wordWorld());
    const environment = withWorld(keyed as Environment<State>, pool, [add]);
    const keyOf = async (seed: number) => environment.stateKey!(await environment.reset(task, seed));
    expect(await keyOf(1)).toBe(await keyOf(1));
    expect(await keyOf(2)).not.toBe(await keyOf(1));
    expect(withWorld(dialogue(), pool, [add])).not.toHaveProperty('stateKey');
    await pool.close();
  });

  it('lets forks of one state act without meeting', async () => {
    const { environment, pool, world } = over();
    const state = await play(environment, [call('a')]);
    const forks = await Promise.all(
      ['x', 'y', 'z'].map((word) => environment.updateState(structuredClone(state), call(word))),
    );
    expect(forks.map((fork) => environment.outcome?.(fork))).toEqual(
      ['x', 'y', 'z'].map((word) => ['t', '1', 'a', word]),
    );
    expect(world.lives).toHaveLength(3); // one was there, two were restored
    await pool.close();
    expect(world.lives.every(({ isClosed }) => isClosed)).toBe(true);
    expect(pool.getStatistics()).toMatchObject({ open: 0, idle: 0, leaked: 0 });
  });

  it.each([
    ['fail', 'Error: no such word'],
    ['hang', 'Error: took longer than 30 ms'],
    ['die', 'Error: the world died'],
  ])('undoes a call that goes wrong (%s), and goes on', async (word, message) => {
    const { environment, pool } = over();
    const state = await play(environment, [call('a') + call(word) + call('b')]);
    expect(results(environment, state)).toEqual(['3', message, '4']);
    expect(environment.outcome?.(state)).toEqual(['t', '1', 'a', 'b']);
    await pool.close();
    expect(pool.getStatistics()).toMatchObject({ open: 0, leaked: 0 });
  });

  it('keeps at most so many worlds open, and lets the others wait', async () => {
    const { environment, pool, world } = over(wordWorld(), { maxOpen: 2 });
    const starts = await Promise.all([1, 2, 3, 4].map((seed) => environment.reset(task, seed)));
    let most = 0;
    const ends = starts.map(async (state) => {
      const next = await environment.updateState(state, call('a'));
      most = Math.max(most, world.lives.filter(({ isClosed }) => !isClosed).length);
      return environment.outcome?.(next);
    });
    expect(await Promise.all(ends)).toEqual([1, 2, 3, 4].map((seed) => ['t', String(seed), 'a']));
    expect(most).toBeLessThanOrEqual(2);
    expect(pool.getStatistics()).toMatchObject({ open: 2, waiting: 0 });
    await pool.close();
  });

  it('fails the episode if the world cannot be opened or restored', async () => {
    const shut = over(wordWorld({ opening: 'fails' }));
    await expect(shut.environment.reset(task, 1)).rejects.toThrow('cannot open the world: no room');
    const faults: { restoring?: 'fails' } = {};
    const { environment, pool } = over(wordWorld(faults), { maxOpen: 1 });
    const state = await environment.reset(task, 1);
    await environment.reset(task, 2); // takes the only place
    faults.restoring = 'fails';
    await expect(environment.updateState(state, call('a'))).rejects.toThrow('cannot restore the world: lost');
    faults.restoring = undefined as never;
    expect(environment.outcome?.(await environment.updateState(state, call('a')))).toEqual(['t', '1', 'a']);
    await pool.close();
  });
});

describe('createWorldPool', () => {
  it('closes everything when its signal aborts', async () => {
    const controller = new AbortController();
    const { environment, pool, world } = over(wordWorld(), { signal: controller.signal });
    const state = await environment.reset(task, 1);
    const turn = environment.updateState(state, call('hang'));
    controller.abort();
    await expect(turn).rejects.toThrow('the pool is closed');
    await pool.close();
    expect(world.lives.every(({ isClosed }) => isClosed)).toBe(true);
    await expect(environment.reset(task, 1)).rejects.toThrow('the pool is closed');
  });

  it('stops a turn at its signal, also while it waits, and gives its place to the next', async () => {
    const { environment, pool, world } = over(wordWorld(), { maxOpen: 1 });
    const state = await environment.reset(task, 1);
    const slow = withWorld(dialogue(), pool, [{ ...add, timeoutMs: 60_000 }]);
    const first = new AbortController();
    const second = new AbortController();
    const running = slow.updateState(await slow.reset(task, 1), call('hang'), { signal: first.signal });
    const waiting = environment.updateState(state, call('a'), { signal: second.signal });
    const patient = environment.updateState(state, call('b'));
    second.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    first.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    expect(environment.outcome?.(await patient)).toEqual(['t', '1', 'b']);
    await pool.close();
    expect(world.lives.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it.each(['snapshot', 'observe'] as const)('gives up a world that hangs (%s)', async (where) => {
    const world = wordWorld();
    const hang = () => new Promise<never>(() => undefined);
    const hanging = {
      ...world,
      open: async (...given: Parameters<typeof world.open>) => {
        const live = await world.open(...given);
        return where === 'snapshot' ? Object.assign(live, { snapshot: hang }) : live;
      },
    };
    const pool = createWorldPool(hanging);
    const environment = withWorld(dialogue(), pool, [add], { observe: hang });
    const controller = new AbortController();
    const opening = environment.reset(task, 1, { signal: controller.signal });
    const other = environment.reset(task, 2);
    await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort(new Error('late'));
    await expect(opening).rejects.toThrow('late');
    const closing = pool.close();
    await expect(other).rejects.toThrow('the pool is closed');
    await closing;
    expect(world.lives.map(({ isClosed }) => isClosed)).toEqual([true, true]);
    expect(pool.getStatistics()).toMatchObject({ open: 0, leaked: 0 });
  });

  it('fails an episode whose world cannot be observed, and says that observe did', async () => {
    const pool = createWorldPool(wordWorld());
    const observe = ({ words }: Words) => {
      if (words.includes('a')) throw new Error('no such table: t');
      return words;
    };
    const environment = withWorld(dialogue(), pool, [add], { observe });
    await expect(play(environment, [call('a')])).rejects.toThrow(
      'withWorld: observe failed: no such table: t; return a value for a world that the policy broke, too',
    );
    await pool.close();
    expect(pool.getStatistics()).toMatchObject({ leaked: 0 });
  });

  it.each(['fails', 'hangs'] as const)('reports a world that does not close (%s)', async (closing) => {
    const leaks: string[] = [];
    const { environment, pool } = over(wordWorld({ closing }), {
      closeTimeoutMs: 20,
      onLeak: (message) => leaks.push(message),
    });
    await play(environment, [call('a')]);
    await pool.close();
    expect(leaks).toEqual([expect.stringContaining('could not be closed')]);
    expect(pool.getStatistics()).toMatchObject({ open: 0, leaked: 1 });
  });

  it('closes a world that opens after nobody waits for it any more', async () => {
    const { environment, pool, world } = over(wordWorld({ opening: 'hangs' }));
    const controller = new AbortController();
    const opening = environment.reset(task, 1, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort(new Error('late'));
    await expect(opening).rejects.toThrow('late');
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(world.lives.map(({ isClosed }) => isClosed)).toEqual([true]);
    expect(pool.getStatistics().open).toBe(0);
  });
});

describe('memoryStore', () => {
  const bytes = (length: number, value: number) => new Uint8Array(length).fill(value);

  it('keeps equal bytes once, and drops what was not used for longest', async () => {
    const store = memoryStore({ maxBytes: 25 });
    const [a, b] = [await store.put(bytes(10, 1)), await store.put(bytes(10, 2))];
    expect(await store.put(bytes(10, 1))).toBe(a);
    await store.put(bytes(10, 3));
    expect(await store.get(a)).toEqual(bytes(10, 1));
    await expect(store.get(b)).rejects.toThrow('unknown, or dropped because more than 25 bytes were kept');
  });

  it('does not change with the bytes it was given', async () => {
    const store = memoryStore();
    const given = bytes(3, 1);
    const id = await store.put(given);
    given.fill(9);
    expect(await store.get(id)).toEqual(bytes(3, 1));
  });
});
