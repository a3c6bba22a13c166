import type { Environment, Message, State, TextGenerator } from '@rlp/core';
import { describeEnvironment } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  BaseEnvironment,
  ConversationEnvironment,
  tool,
  withLimits,
  withMemory,
  withRetries,
  withTermination,
  withTools,
  withUser,
  withVerification,
} from '../index.ts';

interface Trip {
  readonly wish: string;
}
const task = { id: 't', prompt: 'I want to travel.', metadata: { wish: 'Rome' } };
const call = (name: string, args: unknown = {}) =>
  `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;

const weather = tool({
  name: 'weather',
  description: 'Weather in a city today.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => (city === 'Bern' ? 'rain' : 'sun'),
});

/** Answers with the number of messages it sees and its seed, and is content after three. */
const counting: TextGenerator = async (messages, { seed }) =>
  messages.length > 6 ? 'Thanks! ###STOP###' : `${messages.length} ${seed}`;

const dialogue = () => new ConversationEnvironment<Trip>({ systemPrompt: 'Help.' });
const instructions = ({ metadata }: { metadata: Trip }) => `You want to go to ${metadata.wish}.`;
const visitor = (user: TextGenerator = counting) => withUser(dialogue(), user, { instructions });

async function play<S extends State, M>(
  environment: Environment<S, M>,
  responses: readonly string[],
  { metadata = task.metadata as M, tokens }: { readonly metadata?: M; readonly tokens?: number } = {},
) {
  let state = await environment.reset({ ...task, metadata }, 1);
  for (const response of responses) state = await environment.updateState(state, response, { tokens });
  return state;
}
const shown = <S extends State>(environment: Environment<S, never>, state: S) =>
  environment.buildPrompt(state) as readonly Message[];
const rolesIn = (messages: readonly Message[]) => messages.map(({ role }) => role[0]).join('');

const responses = ['Where to?', call('weather', { city: 'Bern' }), 'Sure?', call('none'), 'Right.', 'Bye.'];
describeEnvironment('a user', { create: () => visitor(), task, responses });
describeEnvironment('a user who opens', {
  create: () => withUser(dialogue(), counting, { instructions, first: 'user', maxTurns: 2 }),
  task: { ...task, prompt: [{ role: 'system', content: 'Sell.' }] },
  responses,
});
describeEnvironment('a user within tools', {
  create: () => withTools(visitor(), [weather]),
  task,
  responses,
});
describeEnvironment('a user around tools', {
  create: () => withUser(withTools(dialogue(), [weather]), counting, { instructions }),
  task,
  responses,
});
describeEnvironment('a notebook', {
  create: () => withMemory(withTools(visitor(), [weather]), { keepTurns: 1, maxCharacters: 20 }),
  task,
  responses: [call('write_notes', { text: 'Rome' }), ...responses],
});
describeEnvironment('a notebook that drops nothing', {
  create: () => withMemory(dialogue()),
  task,
  responses: [call('write_notes', { text: 'Rome' }), call('read_notes'), 'Bye.'],
});
describeEnvironment('an end by tool, pattern and tokens', {
  create: () =>
    withTermination(withTools(visitor(), [weather]), {
      pattern: '^Bye',
      tool: 'finish',
      maxTokens: 1000,
      countTokens: (text) => text.length,
    }),
  task,
  responses: ['Where to?', call('weather', { city: 'Bern' }), call('finish', { answer: 'Rome' })],
});
describeEnvironment('everything', {
  create: () =>
    withLimits(
      withMemory(
        withRetries(
          withVerification(
            withTools(withTermination(visitor(), { tool: 'finish' }), [weather]),
            [{ ...weather, schema: { ...weather.schema, function: { name: 'check' } } }],
            { budget: 2 },
          ),
        ),
        { keepTurns: 2 },
      ),
      { maxTurns: 12 },
    ),
  task,
  responses: [
    call('check', { city: 'Bern' }),
    call('write_notes', { text: 'x' }),
    ...responses,
    call('finish'),
  ],
});

/** Its prompt is text. */
class Plain extends BaseEnvironment<State> {
  override reset(): State {
    return { prompt: 'x', response: '', stepCount: 0 };
  }
  override isTerminal({ stepCount }: State) {
    return stepCount >= 3;
  }
}

describe('withUser', () => {
  it('refuses a user that is no function', () => {
    expect(() => withUser(dialogue(), { generate: counting } as never, { instructions })).toThrow(
      'user: must be a function of messages to text',
    );
  });

  it('answers responses from the side of the user, and tells the environment the last one', async () => {
    const seen: (readonly Message[])[] = [];
    const environment = withTools(
      withUser(
        dialogue(),
        async (messages, { seed }) => {
          seen.push(messages);
          return seen.length > 1 ? '###STOP###' : `Rome (${seed})`;
        },
        { instructions },
      ),
      [weather],
    );
    const state = await play(environment, [
      '<think>They want</think>Where to?',
      call('weather', { city: 'Rome' }),
      'Sun. Anything else?',
    ]);
    expect(seen[0]!.slice(1)).toEqual([
      { role: 'user', content: 'Hi! How can I help you today?' },
      { role: 'assistant', content: 'I want to travel.' },
      { role: 'user', content: 'Where to?' },
    ]);
    expect(seen[0]![0]!.content).toContain('You want to go to Rome.');
    expect(rolesIn(seen[1]!)).toBe('suauau');
    expect(rolesIn(shown(environment as never, state))).toBe('suauata');
    expect(environment.isTerminal(state)).toBe(true);
    expect(environment.termination?.(state)).toEqual({
      reason: 'environment',
      detail: 'the user ended the conversation',
    });
    expect(environment.metrics?.(state)).toMatchObject({
      'user/turns': 1,
      'user/stopped': 1,
      'tools/calls': 1,
    });
  });

  it('answers a response that does not call in the format of the tools within', async () => {
    const within = withTools(dialogue(), [weather], { format: 'hermes' });
    const environment = withUser(within, async () => 'And then?', { instructions, format: 'hermes' });
    const state = await play(environment, ['[weather(city="Bern")]']);
    expect([environment.isTerminal(state), state.user.turns]).toEqual([false, 1]);
    expect(shown(environment as never, state).at(-1)).toEqual({ role: 'user', content: 'And then?' });
  });

  it('begins with the task, or with the first words of the user', async () => {
    const options = { instructions, first: 'user' } as const;
    const first = withUser(dialogue(), async () => 'Is anyone there?', options);
    const last = (environment: Environment<State, Trip>, state: State) =>
      shown(environment as never, state as never).at(-1)!.content;
    expect(last(first as never, await play(first, []))).toBe('Is anyone there?');
    expect(last(visitor() as never, await play(visitor(), []))).toBe('I want to travel.');
    const silent = withUser(dialogue(), async () => '###STOP###', options);
    await expect(play(silent, [])).rejects.toThrow('the user ended before the first message');
  });

  it('ends after the last answer of the user', async () => {
    const environment = withUser(dialogue(), async () => 'More.', { instructions, maxTurns: 2 });
    const state = await play(environment, ['a', 'b', 'c']);
    expect([environment.isTerminal(state), environment.termination?.(state).reason]).toEqual([true, 'turns']);
    expect(rolesIn(shown(environment as never, state))).toBe('suauaua');
  });

  it('draws each answer from a stream of its own, the same in equal states', async () => {
    const seeds: string[] = [];
    const environment = visitor(async (_, { seed }) => {
      seeds.push(seed);
      return 'yes';
    });
    const state = await play(environment, ['a', 'b']);
    expect(new Set(seeds).size).toBe(2);
    expect(await environment.updateState(structuredClone(state), 'c')).toEqual(
      await environment.updateState(state, 'c'),
    );
    expect(new Set(seeds).size).toBe(3);
  });

  it('asks again, and then names the user and the cause', async () => {
    let asked = 0;
    const once = visitor(async () => {
      asked += 1;
      if (asked === 1) throw new Error('no credit');
      return asked === 2 ? 'yes' : '  ';
    });
    const state = await play(once, ['a']);
    expect(once.metrics?.(state)).toMatchObject({ 'user/retries': 1 });
    await expect(once.updateState(state, 'b')).rejects.toThrow(
      'withUser: the simulated user failed (after 1 answer, asked 2 times): expected text, got "  "',
    );
  });

  it('gives up a user that hangs, and stops at a signal', async () => {
    const signals: AbortSignal[] = [];
    const hanging = withUser(
      dialogue(),
      (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
      { instructions, timeoutMs: 20, retries: 0 },
    );
    await expect(play(hanging, ['a'])).rejects.toThrow('took longer than 20 ms');
    expect(signals[0]!.aborted).toBe(true);
    const state = await hanging.reset(task, 1);
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(hanging.updateState(state, 'a', { signal })).rejects.toThrow('stopped');
  });

  it('refuses options that are wrong', () => {
    expect(() => withUser(dialogue(), counting, { instructions, maxTurns: 0 })).toThrow('maxTurns');
    expect(() => withUser(dialogue(), counting, {} as never)).toThrow(
      'instructions: must be a function of the task',
    );
    const show = 'all' as never;
    expect(() => withUser(dialogue(), counting, { instructions, show })).toThrow('show: must be a function');
  });
});

describe('withMemory', () => {
  const ask = () =>
    new ConversationEnvironment<Trip>({ maxTurns: 9, nextUserTurn: ({ turn }) => `q${turn}` });

  it('shows the notebook once turns were dropped, and records all of them', async () => {
    const environment = withMemory(ask(), { keepTurns: 1 });
    const state = await play(environment, [call('write_notes', { text: 'Rome' }), 'a', 'b']);
    expect(shown(environment as never, state)).toEqual([
      { role: 'user', content: 'I want to travel.\n\nYour notebook:\nRome' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'q2' },
    ]);
    expect(rolesIn(environment.transcript!(state))).toBe('uatauau');
    expect(environment.metrics?.(state)).toMatchObject({ 'memory/characters': 4, 'memory/calls': 1 });
  });

  it('drops the first turn as soon as there are more than it keeps', async () => {
    const environment = withMemory(ask(), { keepTurns: 1 });
    const one = await play(environment, ['a']);
    expect(rolesIn(shown(environment as never, one))).toBe('uau');
    const two = await environment.updateState(one, 'b');
    expect(shown(environment as never, two)).toEqual([
      { role: 'user', content: 'I want to travel.\n\nYour notebook:\n(empty)' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'q2' },
    ]);
  });

  it('keeps a turn with its tool results', async () => {
    const environment = withMemory(withTools(ask(), [weather]), { keepTurns: 2 });
    const state = await play(environment, ['a', 'b', call('weather', { city: 'Bern' }), 'c']);
    expect(rolesIn(shown(environment as never, state))).toBe('uatau');
  });

  it('refuses notes that do not fit, and takes shorter ones', async () => {
    const environment = withMemory(ask(), { maxCharacters: 10 });
    const note = (text: string, mode?: string) => call('write_notes', { text, mode });
    const state = await play(environment, [
      note('12345'),
      note('123456'),
      note('x', 'replace'),
      call('read_notes'),
    ]);
    const results = shown(environment as never, state).filter(({ role }) => role === 'tool');
    expect(results.map(({ content }) => content)).toEqual([
      'Your notebook:\n12345',
      'Error: the notebook holds 10 characters and this would make 12: replace it by a shorter text',
      'Your notebook:\nx',
      'Your notebook:\nx',
    ]);
  });

  it('makes states with other notes other states, where the environment has keys', async () => {
    const keyed = Object.assign(ask(), { stateKey: ({ stepCount }: State) => `step ${stepCount}` });
    const environment = withMemory(keyed as Environment<State, Trip>);
    const keyOf = async (text: string) =>
      environment.stateKey!(await play(environment, [call('write_notes', { text })]));
    expect(await keyOf('Rome')).toBe(await keyOf('Rome'));
    expect(await keyOf('Rome')).not.toBe(await keyOf('Bern'));
    const stateOf = async (stateKey: unknown) => {
      const environment = withMemory(Object.assign(ask(), { stateKey: () => stateKey as string }));
      return environment.stateKey!(await play(environment, []));
    };
    expect(await stateOf(Promise.resolve('late'))).toBe(await stateOf('late'));
    expect(await stateOf(undefined)).toBeUndefined();
    expect(withMemory(ask())).not.toHaveProperty('stateKey');
  });

  it('goes outside of layers with turns of their own', async () => {
    const wrong = withTools(withMemory(ask(), { keepTurns: 1 }), [weather]);
    await expect(wrong.reset(task, 1)).rejects.toThrow('put withMemory outside of withTools');
  });
});

describe('withTermination', () => {
  const ask = () => new ConversationEnvironment<Trip>({ maxTurns: 9, nextUserTurn: () => 'And?' });

  it.each([
    [{ pattern: '^Bye' }, ['a', 'Bye!'], { reason: 'pattern', detail: '^Bye' }],
    [
      { tool: 'finish' },
      ['a', call('finish', { answer: '4' })],
      { reason: 'terminate', detail: '{"answer":"4"}' },
    ],
    [{ maxTokens: 5 }, ['a', 'b'], { reason: 'tokens', detail: '6 of 5 tokens' }],
  ] as const)('ends by %o', async (options, said, termination) => {
    const environment = withTermination(ask(), options);
    const state = await play(environment, said, { tokens: 3 });
    expect(environment.isTerminal(state)).toBe(true);
    expect(environment.termination?.(state)).toEqual(termination);
    expect(environment.isTerminal(await play(environment, said.slice(0, 1), { tokens: 3 }))).toBe(false);
  });

  it('leaves the reason to an environment that ends by itself', async () => {
    const environment = withTermination(withLimits(dialogue(), { maxTurns: 1 }), { pattern: 'a' });
    const state = await play(environment, ['a']);
    expect(environment.termination?.(state).reason).toBe('environment');
  });

  it.each([
    ['inside', () => withTermination(withTools(ask(), [weather]), { tool: 'finish' })],
    ['outside', () => withTools(withTermination(ask(), { tool: 'finish' }), [weather])],
  ])(
    'runs other calls of the response first, and asks for a call alone, with tools %s',
    async (_, create) => {
      const environment = create() as Environment<State, Trip>;
      const both = await play(environment, [call('weather', { city: 'Bern' }) + call('finish')]);
      const results = shown(environment as never, both as never).filter(({ role }) => role === 'tool');
      expect(results[0]?.content).toBe('rain');
      expect(results[1]?.content).toMatch(/^Error/);
      expect(environment.isTerminal(both)).toBe(false);
      const other = await play(environment, [call('finish') + call('weather', { city: 'Bern' })]);
      expect(environment.isTerminal(other)).toBe(false);
      expect(environment.isTerminal(await environment.updateState(both, call('finish')))).toBe(true);
    },
  );

  it('leaves a prompt of text as it is, unless a call can end the episode', async () => {
    const text = new Plain();
    const ends = withTermination(text, { pattern: 'x' });
    expect(ends.buildPrompt(await play(ends, [], { metadata: undefined }))).toBe('x');
    const calls = withTermination(text, { tool: 'finish' });
    expect(calls.buildPrompt(await play(calls, [], { metadata: undefined }))).toHaveLength(1);
  });

  it('asks for the number of tokens where nobody counts', async () => {
    await expect(play(withTermination(ask(), { maxTokens: 5 }), ['a'])).rejects.toThrow('countTokens');
  });

  it('wants something to end by', () => {
    expect(() => withTermination(ask(), {})).toThrow('give pattern, tool or maxTokens');
    expect(() => withTermination(ask(), { pattern: /DONE/ as never })).toThrow(
      'pattern: must be text; pass its `source`',
    );
    expect(() => withTermination(ask(), { pattern: '(' })).toThrow('pattern');
  });
});

it.each<[string, Environment<State, Trip>, string]>([
  [
    'withVerification',
    withVerification(withTools(dialogue(), [weather]), [weather], { budget: 1 }),
    'weather',
  ],
  ['withTermination', withTermination(withTools(dialogue(), [weather]), { tool: 'weather' }), 'weather'],
  ['withMemory', withMemory(withTermination(dialogue(), { tool: 'read_notes' })), 'read_notes'],
])('%s refuses a tool whose name is taken', async (owner, environment, name) => {
  const reset = async () => environment.reset(task, 1);
  await expect(reset()).rejects.toThrow(`${owner}: the environment within has a tool "${name}" already`);
});

it('layers hand on version and pools of the environment within', () => {
  const pools = [{}] as never;
  const within = Object.assign(dialogue(), { version: '2', pools }) as Environment<State, Trip>;
  for (const layer of [
    withLimits(within, { maxTurns: 1 }),
    withRetries(within),
    withMemory(within, { keepTurns: 1 }),
    withTermination(within, { pattern: 'x' }),
    withTools(within, [weather]),
    withUser(within, counting, { instructions }),
  ] as readonly Environment<State, Trip>[]) {
    expect(layer.pools).toBe(pools);
    expect(layer.version).toBe('2');
  }
  expect(withRetries(dialogue())).not.toHaveProperty('pools');
});
