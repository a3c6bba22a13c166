import { type Environment, EnvironmentError, type State, TimeoutError } from '@rlp/core';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { mockEnvironment } from '../testing.ts';
import { encodeView } from './context.ts';
import { guarded } from './guarded.ts';

const limits = { signal: new AbortController().signal, timeoutMs: 1000 };
const encode = (view: never) => encodeView(view, { tokenizer: characterTokenizer('ab') });

it.each<[object, string]>([
  [
    { buildPrompt: () => 3 },
    'environment.buildPrompt: expected a prompt of text or a list of messages, got 3',
  ],
  [{ buildPrompt: async () => 'a' }, 'got a promise, which it must not return'],
  [{ isTerminal: () => {} }, 'environment.isTerminal: expected true or false, got undefined'],
])('says what is wrong with an answer: %o', async (wrong, said) => {
  const environment = { ...mockEnvironment(), ...wrong };
  const world = guarded(environment, limits);
  const state = await world.reset({ id: 'a', prompt: 'a', metadata: undefined }, 0);
  const asked = (async () => [await world.isTerminal(state), await world.show(state, encode as never)])();
  await expect(asked).rejects.toThrow(said);
});

it('refuses an environment that changes the state it was given, which the members of a group share', async () => {
  const environment = {
    ...mockEnvironment(),
    updateState: (state: State, response: string) => Object.assign(state, { response }),
  };
  const world = guarded(environment, limits);
  const state = await world.reset({ id: 'a', prompt: 'a', metadata: undefined }, 0);
  await expect(world.updateState(state, 'b', 1)).rejects.toThrow(
    'environment.updateState: expected the given state to stay as it was, got another "response" in it; ' +
      'return a new state, such as { ...state, response }, because the episodes of a group share states',
  );
});

interface Held extends State {
  readonly seen: string[];
  readonly cache: Map<string, number>;
  answer: string;
  legal: readonly string[] | undefined;
}

/** Updates a state in an environment that changes it. */
async function updated(change: (state: Held) => unknown) {
  const environment = {
    ...mockEnvironment(),
    reset: async () => ({
      ...{ prompt: 'a', response: '', stepCount: 0 },
      ...{ seen: ['a'], cache: new Map(), answer: 'a', legal: undefined },
    }),
    updateState: (state: State, response: string) => {
      change(state as Held);
      return { ...state, response };
    },
  };
  const world = guarded(environment, limits);
  return world.updateState(await world.reset({ id: 'a', prompt: 'a', metadata: undefined }, 0), 'b', 1);
}

it.each<[string, (state: Held) => unknown]>([
  ['seen', (state) => state.seen.push('b')],
  ['seen', (state) => state.seen.splice(0, 1)],
  ['answer', (state) => Object.assign(state, { answer: 'b' })],
])('refuses a change of %s inside the given state: %s', async (field, change) => {
  await expect(updated(change)).rejects.toThrow(`got another "${field}" in it`);
});

it('lets a state memoise what it computes', async () => {
  const state = await updated((given) => {
    given.legal ??= ['b'];
    given.cache.set('b', 1);
  });
  expect(state.response).toBe('b');
});

describe('a guarded environment', () => {
  const task = { id: 'a', prompt: 'a', metadata: undefined };
  const state = { prompt: 'a', response: '', stepCount: 0 };
  const world = (methods: object, own = limits) =>
    guarded({ ...mockEnvironment(), ...methods } as Environment, own);

  it('hands on what it is given, and what the environment answers', async () => {
    const calls: unknown[] = [];
    const noted =
      (name: string, answer: unknown) =>
      (...given: unknown[]) => {
        calls.push([
          name,
          ...given.map((each) =>
            typeof each === 'object' && each !== null && 'signal' in each
              ? { ...each, signal: 'signal' }
              : each,
          ),
        ]);
        return answer;
      };
    const next = { ...state, stepCount: 1 };
    const own = world({
      reset: noted('reset', state),
      updateState: noted('updateState', next),
      stateKey: noted('stateKey', 'key'),
      tools: noted('tools', ['tool']),
      buildPrompt: noted('buildPrompt', 'view'),
      termination: noted('termination', { reason: 'budget' }),
      transcript: noted('transcript', []),
      outcome: noted('outcome', 7),
      metrics: noted('metrics', { a: 1 }),
    });
    expect([
      await own.reset(task, 3),
      await own.updateState(state, 'b', 5),
      await own.stateKey(state),
    ]).toEqual([state, next, 'key']);
    expect(await own.show(state, (view, tools) => [view, tools])).toEqual({
      view: 'view',
      tools: ['tool'],
      encoded: ['view', ['tool']],
    });
    expect([await own.termination(state), await own.ending(state), own.lastView(state)]).toEqual([
      ...[{ reason: 'budget' }, { transcript: [], outcome: 7, metrics: { a: 1 } }, 'view'],
    ]);
    expect(calls.slice(0, 3)).toEqual([
      ...[
        ['reset', task, 3, { signal: 'signal' }],
        ['updateState', state, 'b', { tokens: 5, signal: 'signal' }],
        ['stateKey', state],
      ],
    ]);
  });

  it('does without what an environment may leave out', async () => {
    const bare = world({});
    expect([await bare.stateKey(state), await bare.termination(state)]).toEqual([
      undefined,
      { reason: 'environment' },
    ]);
    expect(await bare.ending(state)).toEqual({
      transcript: undefined,
      outcome: undefined,
      metrics: undefined,
    });
    expect((await bare.show(state, () => 0)).tools).toBeUndefined();
    const hidden = world({
      buildPrompt: () => {
        throw new Error('over');
      },
    });
    expect(hidden.lastView(state)).toBeUndefined();
  });

  it.each(['stateKey', 'termination', 'transcript', 'outcome', 'metrics', 'tools', 'isTerminal'] as const)(
    'names %s if it throws',
    async (method) => {
      const broken = world({
        [method]: () => {
          throw new Error('oops');
        },
      });
      const asked = async () => {
        await broken.isTerminal(state);
        await broken.show(state, () => 0);
        await broken.stateKey(state);
        await broken.termination(state);
        await broken.ending(state);
      };
      const name = method === 'tools' ? 'buildPrompt' : method;
      await expect(asked()).rejects.toThrow(new EnvironmentError(`environment.${name}: oops`));
    },
  );

  it('ends a call that takes too long, and tells it so by its signal', async () => {
    let signal: AbortSignal | undefined;
    const slow = world(
      {
        reset: (_: unknown, __: unknown, context: { readonly signal: AbortSignal }) => {
          signal = context.signal;
          return new Promise(() => undefined);
        },
      },
      { ...limits, timeoutMs: 5 },
    );
    await expect(slow.reset(task, 0)).rejects.toThrow('environment.reset took longer than 5 ms');
    expect(signal!.aborted).toBe(true);
    const lateness = new TimeoutError('no answer of the shop');
    const own = world({ reset: () => Promise.reject(lateness) });
    await expect(own.reset(task, 0)).rejects.toThrow('environment.reset: no answer of the shop');
  });

  it('throws the reason of its signal instead of what was answered', async () => {
    const controller = new AbortController();
    const stopping = (answer: () => unknown) =>
      world(
        {
          isTerminal: () => {
            controller.abort(new Error('enough'));
            return answer();
          },
        },
        { ...limits, signal: controller.signal },
      );
    const broken = stopping(() => {
      throw new Error('oops');
    });
    await expect(broken.isTerminal(state)).rejects.toThrow('enough');
    await expect(broken.stateKey(state)).resolves.toBeUndefined();
    await expect(broken.isTerminal(state)).rejects.toThrow('enough');
    expect(() => broken.given(state, undefined)).toThrow('enough');
  });

  it('goes on from states of its own version alone', () => {
    const own = world({ version: '2' });
    expect(own.given(state, '2')).toBe(state);
    expect(own.given(state, undefined)).toBe(state);
    expect(() => own.given(state, '1')).toThrow(
      'environment: cannot go on from a state of version "1", because this is version "2": begin the episode again',
    );
    for (const given of [undefined, null, 7, 'state', {}])
      expect(() => own.given(given, '2')).toThrow(
        'environment.(the given state): expected a state (an object with prompt, response and stepCount), got',
      );
  });

  it.each([
    [{ cost: Number.NaN }, 'expected finite numbers, got NaN for "cost"'],
    [{ won: 1, cost: Number.POSITIVE_INFINITY }, 'expected finite numbers, got Infinity for "cost"'],
    [{ cost: '3' }, 'expected finite numbers, got 3 for "cost"'],
  ])('refuses metrics %j', async (metrics, problem) => {
    await expect(world({ metrics: () => metrics }).ending(state)).rejects.toThrow(
      `environment.metrics: ${problem}`,
    );
  });

  it('lets a state change what is not its own: a getter, or a field that was not there', async () => {
    let reads = 0;
    const lazy = Object.defineProperty({ ...state }, 'count', { enumerable: true, get: () => reads++ });
    const own = world({
      updateState: (given: object) => ({ ...state, ...(Object.assign(given, { extra: 1 }) && {}) }),
    });
    await expect(own.updateState(lazy, 'b', 1)).resolves.toMatchObject({ stepCount: 0 });
    expect(reads).toBeGreaterThan(0);
  });

  it('names how to return another field, and refuses a list that shrank to its length again', async () => {
    const growing = { ...state, list: [1], score: 0 };
    const change = (by: (given: typeof growing) => unknown) => {
      const updateState = (given: typeof growing) => {
        by(given);
        return { ...given };
      };
      return world({ updateState }).updateState({ ...growing, list: [1] } as never, 'b', 1);
    };
    await expect(change((given) => Object.assign(given, { score: 1 }))).rejects.toThrow(
      'got another "score" in it; return a new state, such as { ...state, score: … }, because',
    );
    await expect(change((given) => Object.assign(given, { prompt: 'b' }))).rejects.toThrow(
      '{ ...state, response }',
    );
    await expect(change((given) => Object.assign(given, { list: [1] }))).rejects.toThrow(
      'got another "list" in it',
    );
    await expect(change((given) => given.list.reverse())).resolves.toMatchObject({ list: [1] });
  });
});
