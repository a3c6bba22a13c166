import type { Environment, EnvironmentContext, Message, State, Task, TextGenerator } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
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

type AnyEnvironment = Environment<State, undefined>;
const call = (name: string, args: unknown = {}) =>
  `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;
const note = (text: string, mode?: string) => call('write_notes', { text, mode });
const dialogue = () =>
  new ConversationEnvironment<undefined>({ maxTurns: 99, nextUserTurn: ({ turn }) => `q${turn}` });
const instructions = () => 'Ask.';
const user: TextGenerator = async (messages) => `m${messages.length}`;
const ping = tool({ name: 'ping', description: 'Pings.', parameters: z.object({}), execute: () => 'pong' });

/** Over after its first response, and with no word about why. */
const brief: AnyEnvironment = {
  reset: ({ prompt }) => ({ prompt, response: '', stepCount: 0 }),
  buildPrompt: ({ prompt }) => prompt,
  updateState: (state, response) => ({ ...state, response, stepCount: state.stepCount + 1 }),
  isTerminal: ({ stepCount }) => stepCount > 0,
};

async function play<S extends State>(
  environment: Environment<S, undefined>,
  responses: readonly string[],
  { prompt = 'Go.', ...context }: EnvironmentContext & { readonly prompt?: Task['prompt'] } = {},
) {
  let state = await environment.reset({ id: 't', prompt, metadata: undefined }, 1, {});
  for (const response of responses) state = await environment.updateState(state, response, context);
  return state;
}
const shown = <S extends State>(environment: Environment<S, undefined>, state: S) =>
  (environment.buildPrompt(state) as readonly Message[]).map(({ role, content }) => `${role[0]} ${content}`);
const lastOf = <S extends State>(environment: Environment<S, undefined>, state: S) =>
  shown(environment, state).at(-1);

describe('options of layers', () => {
  it.each<[string, (options: never) => unknown, readonly object[], readonly object[]]>([
    [
      'withMemory',
      (options) => withMemory(dialogue(), options),
      [{}, { maxCharacters: 1, keepTurns: 1 }],
      [{ maxCharacters: 0 }, { keepTurns: 0 }, { keepTurns: 1.5 }, { keep: 1 }],
    ],
    [
      'withTermination',
      (options) => withTermination(dialogue(), options),
      [{ pattern: 'x' }, { tool: 'a'.repeat(64) }, { tool: 'A-b_c.9' }, { maxTokens: 1 }],
      [
        { tool: '' },
        { tool: 'a'.repeat(65) },
        { tool: 'a b' },
        { maxTokens: 0 },
        { tool: 'a', toolDescription: '' },
        { tool: 'a', format: 'yaml' },
      ],
    ],
    [
      'withUser',
      (options) => withUser(dialogue(), user, Object.assign({ instructions }, options)),
      [
        { maxTurns: 1, retries: 0, maxCharacters: 1, timeoutMs: 1, stop: 'x', greeting: 'x' },
        { first: 'user' },
      ],
      [
        { maxTurns: 0 },
        { retries: -1 },
        { maxCharacters: 0 },
        { timeoutMs: 0 },
        { stop: '' },
        { greeting: '' },
        { first: 'me' },
      ],
    ],
    [
      'withRetries',
      (options) => withRetries(dialogue(), options),
      [{}, { attempts: 1, firstWaitMs: 0, longestWaitMs: 0, deadlineMs: 2 ** 31 - 1 }],
      [
        { attempts: 0 },
        { firstWaitMs: -1 },
        { longestWaitMs: -1 },
        { deadlineMs: 0 },
        { deadlineMs: 2 ** 31 },
      ],
    ],
    [
      'withTools',
      (options) => withTools(dialogue(), [ping], options),
      [{}, { maxCalls: 1, maxCallsPerTurn: 1, budget: 0, maxResultCharacters: 1 }],
      [
        { maxCalls: 0 },
        { maxCallsPerTurn: 0 },
        { budget: -1 },
        { maxResultCharacters: 0 },
        { whenSpent: 'stop' },
        { onError: 'throw' },
      ],
    ],
  ])('%s takes the edges and refuses what is beyond', (name, make, fits, wrongs) => {
    for (const options of fits) expect(() => make(options as never), JSON.stringify(options)).not.toThrow();
    for (const options of wrongs)
      expect(() => make(options as never), JSON.stringify(options)).toThrow(
        new RegExp(`${name}: [\\s\\S]*${Object.keys(options).at(-1)}`),
      );
  });

  it.each<[string, string, (within: AnyEnvironment) => AnyEnvironment]>([
    ['withTools', 'tools', (within) => withTools(within, [ping]) as never],
    [
      'withVerification',
      'verification',
      (within) => withVerification(within, [ping], { budget: 1 }) as never,
    ],
    ['withMemory', 'notebook', (within) => withMemory(within) as never],
    ['withTermination', 'termination', (within) => withTermination(within, { pattern: 'x' }) as never],
    ['withUser', 'user', (within) => withUser(within, user, { instructions }) as never],
    ['withRetries', 'retries', (within) => withRetries(within) as never],
  ])('%s is refused where its field "%s" is taken', async (name, field, layer) => {
    const taken = { ...brief, reset: () => ({ prompt: 'Go.', response: '', stepCount: 0, [field]: 1 }) };
    await expect(play(layer(taken), [])).rejects.toThrow(`${name}: the state has a field "${field}" already`);
  });
});

describe('withMemory', () => {
  it('holds 2000 characters unless told otherwise, and says so', async () => {
    const environment = withMemory(dialogue());
    const full = await play(environment, [note('x'.repeat(2000))]);
    expect(lastOf(environment, full)).toBe(`t Your notebook:\n${'x'.repeat(2000)}`);
    const [write, read] = environment.tools!(full).map(({ function: { description } }) => description);
    expect(write).toBe(
      'Writes into your notebook, which holds 2000 characters. Old turns may be dropped; your notes stay.',
    );
    expect(read).toBe('Reads your notebook.');
    const over = await play(environment, [note('x'.repeat(2001))]);
    expect(lastOf(environment, over)).toContain('this would make 2001');
    expect(environment.metrics!(over)).toEqual({
      'memory/characters': 0,
      'memory/calls': 1,
      'memory/errors': 1,
      'memory/spent': 0,
    });
  });

  it('appends a line, or replaces all, by one call in a response', async () => {
    const environment = withMemory(dialogue());
    const state = await play(environment, [
      call('read_notes'),
      note('a'),
      note('b', 'append'),
      note('c', 'replace') + note('d'),
    ]);
    expect(shown(environment, state).filter((text) => text.startsWith('t '))).toEqual([
      't Your notebook:\n(empty)',
      't Your notebook:\na',
      't Your notebook:\na\nb',
      't Your notebook:\nc',
      't Error: at most 1 call in one response.',
    ]);
    expect(state.notebook.text).toBe('c');
  });

  it.each<[string, Task['prompt'], readonly string[]]>([
    ['a task', 'Go.', ['u Go.\n\nYour notebook:\n(empty)', 'a b', 'u q2', 'a c', 'u q3']],
    [
      'examples, which are no turns',
      [
        { role: 'user', content: '1?' },
        { role: 'assistant', content: '1!' },
        { role: 'user', content: '2?' },
      ],
      ['u 1?', 'a 1!', 'u 2?\n\nYour notebook:\n(empty)', 'a b', 'u q2', 'a c', 'u q3'],
    ],
    ['nothing', [], ['u Your notebook:\n(empty)', 'a b', 'u q2', 'a c', 'u q3']],
  ])('keeps the last turns and what stood before the first: %s', async (_, prompt, kept) => {
    const environment = withMemory(dialogue(), { keepTurns: 2 });
    const two = await play(environment, ['a', 'b'], { prompt });
    expect(shown(environment, two).some((text) => text.includes('notebook'))).toBe(false);
    expect(shown(environment, await environment.updateState(two, 'c'))).toEqual(kept);
  });
});

describe('withTermination', () => {
  it.each<[number, number, boolean]>([
    [4, 5, false],
    [5, 5, true],
    [6, 5, true],
    [0, 1, false],
  ])('%d tokens of %d end the episode: %s', async (tokens, maxTokens, isOver) => {
    const counts = withTermination(dialogue(), { maxTokens, countTokens: () => tokens });
    expect(counts.isTerminal(await play(counts, ['a'], { tokens: 99 }))).toBe(isOver);
    const told = withTermination(dialogue(), { maxTokens });
    const state = await play(told, ['a'], { tokens });
    expect([told.isTerminal(state), state.termination.tokens]).toEqual([isOver, tokens]);
  });

  it('wants a number of tokens that can be', async () => {
    for (const wrong of [-1, Number.NaN]) {
      const environment = withTermination(dialogue(), { maxTokens: 5, countTokens: () => wrong });
      await expect(play(environment, ['a'])).rejects.toThrow(
        `withTermination: expected the number of tokens of the response, got ${wrong}: run it by a rollout, or pass countTokens`,
      );
    }
    const free = withTermination(dialogue(), { pattern: 'x', countTokens: () => -1 });
    expect((await play(free, ['a'])).termination.tokens).toBe(0);
  });

  it('names its own reason, that of the environment, or that the environment ended', async () => {
    const reasonOf = async (within: AnyEnvironment, response: string) => {
      const environment = withTermination(within, { pattern: 'x' });
      return environment.termination!(await play(environment, [response])).reason;
    };
    expect(await reasonOf(dialogue() as never, 'x')).toBe('pattern');
    expect(await reasonOf(brief, 'x')).toBe('pattern');
    expect(await reasonOf(brief, 'y')).toBe('environment');
    const limited = withLimits({ ...brief, isTerminal: () => false }, { maxTurns: 1 });
    expect([await reasonOf(limited, 'x'), await reasonOf(limited, 'y')]).toEqual(['turns', 'turns']);
  });

  it('offers its tool before those within, and none if it has none', async () => {
    const named = (environment: AnyEnvironment, state: State) =>
      environment.tools?.(state).map(({ function: { name, description } }) => [name, description]);
    const ends = withTermination(withTools(dialogue(), [ping]), {
      tool: 'finish',
    }) as never as AnyEnvironment;
    expect(named(ends, await play(ends, []))).toEqual([
      ['finish', 'Ends the task. Call it alone, once you are done.'],
      ['ping', 'Pings.'],
    ]);
    const quiet = withTermination(withTools(dialogue(), [ping]), { pattern: 'x' }) as never as AnyEnvironment;
    expect(named(quiet, await play(quiet, []))).toEqual([['ping', 'Pings.']]);
    expect(withTermination(dialogue(), { pattern: 'x' })).not.toHaveProperty('tools');
    const worded = withTermination(dialogue(), {
      tool: 'finish',
      toolDescription: 'Stop.',
    }) as never as AnyEnvironment;
    expect(named(worded, await play(worded, []))).toEqual([['finish', 'Stop.']]);
  });
});

describe('withUser', () => {
  it('lets the user answer 16 times unless told otherwise', async () => {
    const environment = withUser(brief, user, { instructions });
    const said = Array.from({ length: 16 }, () => 'a');
    const state = await play(environment, said);
    expect([environment.isTerminal(state), environment.metrics!(state)['user/turns']]).toEqual([false, 16]);
    expect(environment.termination!(state)).toEqual({ reason: 'environment' });
    const last = await environment.updateState(state, 'a');
    expect([environment.isTerminal(last), environment.termination!(last)]).toEqual([
      true,
      { reason: 'turns', detail: '16 answers of the user' },
    ]);
    expect(environment.metrics!(last)).toEqual({ 'user/turns': 16, 'user/retries': 0, 'user/stopped': 0 });
  });

  it('hands on why the environment within is over', async () => {
    const limited = withLimits({ ...brief, isTerminal: () => false }, { maxTurns: 1 });
    const environment = withUser(limited, async () => 'Bye ###STOP###', { instructions });
    const state = await play(environment, ['a']);
    expect(environment.termination!(state)).toEqual({
      reason: 'environment',
      detail: 'the user ended the conversation',
    });
    const calling = withUser(withTools(limited, [ping]), user, { instructions });
    expect(calling.termination!(await play(calling, [call('ping')]))).toEqual({ reason: 'turns' });
  });

  it.each([
    [9, 'ab😀cd', 'ab😀cd'],
    [4, ' ab😀cd ', 'ab😀'],
    [3, 'ab😀cd', 'ab'],
    [2, 'ab😀cd', 'ab'],
  ])('cuts an answer behind %d units, never within a character', async (maxCharacters, text, read) => {
    const environment = withUser(brief, async () => text, { instructions, maxCharacters });
    expect(lastOf(environment, await play(environment, ['a']))).toBe(`u ${read}`);
  });

  it('asks with seeds by episode, turn and attempt, and as often as it may', async () => {
    const seeds: string[] = [];
    const silent: TextGenerator = async (_, { seed }) => {
      seeds.push(seed);
      return seeds.length === 1 ? 'Hm.' : '';
    };
    const asked = async (retries?: number) => {
      seeds.length = 0;
      const environment = withUser(brief, silent, {
        instructions,
        ...(retries !== undefined && { retries }),
      });
      await expect(play(environment, ['a', 'b'])).rejects.toThrow(`asked ${(retries ?? 1) + 1} time`);
      return seeds.slice();
    };
    expect(await asked(0)).toEqual(['["user",1,0,0]', '["user",1,1,0]']);
    expect(await asked()).toEqual(['["user",1,0,0]', '["user",1,1,0]', '["user",1,1,1]']);
    expect(await asked(2)).toHaveLength(4);
  });

  it('shows the user what it is told to, behind its own greeting and brief', async () => {
    const seen: (readonly Message[])[] = [];
    const curious: TextGenerator = async (messages) => {
      seen.push(messages);
      return 'stop it';
    };
    const show = (response: string) => response.toUpperCase();
    const options = { instructions, greeting: 'Yes?', stop: 'END', show };
    await play(withUser(brief, curious, options), ['loud']);
    expect(seen[0]!.slice(1).map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: Yes?',
      'assistant: Go.',
      'user: LOUD',
    ]);
    expect(seen[0]![0]).toMatchObject({
      role: 'system',
      content: expect.stringMatching(/^You play the user[\s\S]*\n\nAsk\.\n\n[\s\S]*write END and/),
    });
  });
});

describe('withRetries', () => {
  const away = () => Object.assign(new Error('away'), { code: 'ECONNRESET' });
  const failing = (failures: Error[]): AnyEnvironment => ({
    ...brief,
    reset: (task, seed) => {
      const error = failures.shift();
      if (error !== undefined) throw error;
      return brief.reset(task, seed);
    },
  });
  const waited = async (failures: number, options: Parameters<typeof withRetries>[1]) => {
    const waits: number[] = [];
    const sleep = async (milliseconds: number) => void waits.push(milliseconds);
    const environment = withRetries(failing(Array.from({ length: failures }, away)), { ...options, sleep });
    await play(environment, []);
    return waits;
  };

  it('waits longer each time, up to a longest wait', async () => {
    const waits = await waited(6, { attempts: 7, firstWaitMs: 100, longestWaitMs: 400 });
    expect(waits).toHaveLength(6);
    expect(waits[0]).toBeLessThan(waits[1]!);
    expect(waits[1]).toBeLessThan(waits[2]!);
    expect(Math.max(...waits)).toBeLessThanOrEqual(400 * 1.5);
    expect(await waited(6, { attempts: 7, firstWaitMs: 100, longestWaitMs: 400 })).toEqual(waits);
    expect(await waited(2, { firstWaitMs: 0 })).toEqual([0, 0]);
  });

  it('asks whether an error may pass, and tries three times unless told otherwise', async () => {
    const tried = async (failures: Error[], options: Parameters<typeof withRetries>[1] = {}) => {
      const left = [...failures];
      const environment = withRetries(failing(left), { firstWaitMs: 0, ...options });
      const error = await play(environment, []).then(
        () => undefined,
        (reason: Error) => reason.message,
      );
      return [error, failures.length - left.length];
    };
    expect(await tried([away(), away()])).toEqual([undefined, 2]);
    expect(await tried([away(), away(), away(), away()])).toEqual(['withRetries: attempt 3 of 3: away', 3]);
    expect(await tried([away()], { attempts: 1 })).toEqual(['away', 1]);
    expect(await tried([away(), new TypeError('bug')])).toEqual(['withRetries: attempt 2 of 3: bug', 2]);
    expect(await tried([new TypeError('bug')], { isTransient: () => true })).toEqual([undefined, 1]);
    expect(await tried([away()], { isTransient: () => false })).toEqual(['away', 1]);
  });
});
