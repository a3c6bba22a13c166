import type { State } from '@rlp/core';
import { characterTokenizer } from '@rlp/models';
import { expect, it } from 'vitest';
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
