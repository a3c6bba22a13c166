import type { Environment, Message, State } from '@rlp/core';
import { describeEnvironment } from '@rlp/core/testing';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import {
  BaseEnvironment,
  ConversationEnvironment,
  SimpleTextEnvironment,
  type Tool,
  tool,
  withTools,
} from '../index.ts';
import { withVerification } from './with-tools.ts';

const call = (name: string, args: unknown = {}) =>
  `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;

const weather = tool({
  name: 'weather',
  description: 'Weather in a city today.',
  parameters: z.object({ city: z.string(), days: z.int().min(1).default(1) }),
  execute: ({ city, days }) => ({ city, weather: city === 'Bern' ? 'rain' : 'sun', days }),
});

/** A shop whose stock is part of its state. */
interface Shop extends State {
  readonly stock: number;
}

class ShopEnvironment extends BaseEnvironment<Shop, unknown, { stock: number }> {
  override reset(): Shop {
    return { prompt: 'Buy two apples.', response: '', stepCount: 0, stock: 5 };
  }
  override isTerminal({ stepCount }: Shop) {
    return stepCount > 0;
  }
  override stateKey({ stock }: Shop) {
    return `${stock} left`;
  }
  override outcome({ stock }: Shop) {
    return { stock };
  }
  override metrics({ stock }: Shop) {
    return { stock };
  }
}

const buy: Tool<Shop> = tool({
  name: 'buy',
  description: 'Buys apples.',
  parameters: z.object({ count: z.int(), wait: z.number().default(0) }),
  execute: async (
    { count, wait },
    { state, update }: { state: Shop; update: (change: (now: Shop) => Shop) => void },
  ) => {
    await new Promise((resolve) => setTimeout(resolve, wait));
    update((now) => ({ ...now, stock: now.stock - count }));
    return `${state.stock - count} left`;
  },
});

const task = { id: 't', prompt: 'Buy two apples.', metadata: undefined };

async function play<S extends State>(
  environment: Environment<S>,
  responses: readonly string[],
  signal?: AbortSignal,
) {
  let state = await environment.reset(task, 1);
  for (const response of responses) {
    state = await environment.updateState(state, response, signal && { signal });
  }
  return state;
}

const said = (environment: Environment<never>, state: State) =>
  environment.buildPrompt(state as never) as readonly Message[];
const lastOf = (environment: Environment<never>, state: State) => said(environment, state).at(-1)?.content;

describeEnvironment('a conversation with tools', {
  create: () =>
    withTools(new ConversationEnvironment({ maxTurns: 2, nextUserTurn: () => 'And tomorrow?' }), [weather]),
  task,
  responses: [call('weather', { city: 'Bern' }), 'Rain.', call('nothing'), call('weather', {}), 'Sun.'],
});
describeEnvironment('a shop with tools and checks', {
  create: () => withVerification(withTools(new ShopEnvironment(), [buy]), [weather], { budget: 2 }),
  task,
  responses: [call('buy', { count: 2 }), call('weather', { city: 'Rome' }), 'Done.'],
});

describe('withTools', () => {
  it('answers calls with tool messages, and hands what is no call to the environment', async () => {
    const environment = withTools(new ConversationEnvironment({ systemPrompt: 'Help.' }), [weather]);
    const state = await play(environment, [`Let me look. ${call('weather', { city: 'Bern' })}`, 'Rain.']);
    expect(said(environment as never, state)).toEqual([
      { role: 'system', content: 'Help.' },
      { role: 'user', content: 'Buy two apples.' },
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [
          { id: 'call00000', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } },
        ],
      },
      {
        role: 'tool',
        name: 'weather',
        tool_call_id: 'call00000',
        content: '{"city":"Bern","weather":"rain","days":1}',
      },
      { role: 'assistant', content: 'Rain.' },
    ]);
    expect([state.stepCount, environment.isTerminal(state)]).toEqual([2, true]);
    expect(environment.metrics?.(state)).toEqual({ 'tools/calls': 1, 'tools/errors': 0, 'tools/spent': 1 });
  });

  it('runs no call that is drafted in a closed thought, and keeps the thought', async () => {
    const environment = withTools(new ConversationEnvironment(), [weather]);
    const thought = `<think>Perhaps ${call('weather', { city: 'Rome' })}?</think>`;
    const silent = await play(environment, [`${thought} I do not know.`]);
    expect([silent.tools.calls, environment.isTerminal(silent)]).toEqual([0, true]);
    const before = await play(environment, [`${call('weather', { city: 'Bern' })}<think>Good.</think>`]);
    const open = await play(environment, [`<think>I ask: ${call('weather', { city: 'Bern' })}`]);
    expect([before.tools.calls, open.tools.calls]).toEqual([1, 1]);
    const state = await play(environment, [`${thought}Look: ${call('weather', { city: 'Bern' })}`]);
    expect(state.tools.calls).toBe(1);
    expect(said(environment as never, state).at(-2)).toMatchObject({
      content: `${thought}Look:`,
      tool_calls: [{ function: { arguments: '{"city":"Bern"}' } }],
    });
  });

  it('keeps exchanges where they happened when the dialogue goes on', async () => {
    const inner = new ConversationEnvironment({ maxTurns: 2, nextUserTurn: () => 'And in Rome?' });
    const environment = withTools(inner, [weather]);
    const state = await play(environment, [
      call('weather', { city: 'Bern' }),
      'Rain.',
      call('weather', { city: 'Rome' }),
      call('weather', { city: 'Oslo' }),
      'Sun.',
    ]);
    const roles = said(environment as never, state).map(({ role }) => role[0]);
    expect(roles.join('')).toBe('uatauatata'); // one answer between two questions, each behind its calls
    const ids = said(environment as never, state).flatMap(({ tool_call_id: id }) => id ?? []);
    expect(new Set(ids).size).toBe(3);
  });

  it('shows text prompts as messages and offers the tools to the chat template', async () => {
    const environment = withTools(new SimpleTextEnvironment({ prompts: ['Hi.'] }), [weather]);
    const state = await environment.reset({ ...task, prompt: 'Hi.' } as never, 1);
    expect(environment.buildPrompt(state)).toEqual([{ role: 'user', content: 'Hi.' }]);
    expect(environment.tools?.(state)).toMatchObject([
      {
        type: 'function',
        function: {
          name: 'weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ]);
  });

  it.each([
    [
      'a tool that does not exist',
      call('wether', {}),
      'Error: there is no such tool. Tools: weather, broken',
    ],
    ['wrong arguments', call('weather', { city: 3 }), 'Error: wrong arguments: city: '],
    ['arguments that are missing', call('weather'), 'Error: wrong arguments: city: '],
    ['a tool that throws', call('broken', { how: 'throw' }), 'Error: out of order'],
    ['a tool that throws no error', call('broken', { how: 'text' }), 'Error: plain text'],
    [
      'a result that is no JSON',
      call('broken', { how: 'function' }),
      'Error: the tool returned a function, expected text or JSON',
    ],
    [
      'a result that refers to itself',
      call('broken', { how: 'circle' }),
      'Error: the tool returned what JSON cannot hold: Converting circular structure',
    ],
    [
      'a big integer',
      call('broken', { how: 'bigint' }),
      'Error: the tool returned a bigint, expected text or JSON',
    ],
    ['a tool that hangs', call('broken', { how: 'hang' }), 'Error: took longer than 50 ms'],
    [
      'a result of 10 MB',
      call('broken', { how: 'flood' }),
      `${'x'.repeat(20_000)}… (9980000 more characters)`,
    ],
    ['nothing', call('broken', { how: 'nothing' }), 'null'],
  ])('tells the policy of %s, and the episode goes on', async (_, response, expected) => {
    const environment = withTools(new ConversationEnvironment(), [weather, broken]);
    const state = await play(environment, [response]);
    expect(lastOf(environment as never, state)?.slice(0, expected.length)).toBe(expected);
    expect(state.tools.errors).toBe(expected.startsWith('Error') ? 1 : 0);
    expect(environment.isTerminal(await environment.updateState(state, 'I give up.'))).toBe(true);
  });

  it.each([
    [10n, 'a bigint'],
    [Number.NaN, 'NaN'],
    [new Map([['a', 1]]), 'a Map'],
    [new Set([1]), 'a Set'],
    [Uint8Array.of(1, 2), 'a Uint8Array'],
    [new Response('text'), 'a Response'],
    [Symbol('x'), 'a symbol'],
  ])('refuses a result that JSON would lose: %o', async (result, named) => {
    const odd = tool({ name: 'odd', description: 'Odd.', parameters: z.object({}), execute: () => result });
    const environment = withTools(new ConversationEnvironment(), [odd]);
    const state = await play(environment, [call('odd', {})]);
    const expected = `Error: the tool returned ${named}, expected text or JSON`;
    expect(lastOf(environment as never, state)).toBe(expected);
  });

  it.each([
    [{}, '{}'],
    [[], '[]'],
    [false, 'false'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [Object.create(null), '{}'],
    [{ at: undefined }, '{}'],
  ])('shows a result that JSON holds: %o', async (result, shown) => {
    const plain = tool({ name: 'odd', description: 'Odd.', parameters: z.object({}), execute: () => result });
    const environment = withTools(new ConversationEnvironment(), [plain]);
    expect(lastOf(environment as never, await play(environment, [call('odd', {})]))).toBe(shown);
  });

  it.each([
    ['an object', { stock: 1 }, 'update: expected a function of the state, such as update((state) => ({'],
    [
      'no state',
      () => undefined,
      'the function of update must return the new state, as in update((state) => ({',
    ],
  ])('fails the episode if a tool updates with %s, and names the tool', async (_, change, said) => {
    const careless = tool({
      name: 'careless',
      description: 'Careless.',
      parameters: z.object({}),
      execute: (_, { update }) => update(change as never),
    });
    const environment = withTools(new ConversationEnvironment(), [careless]);
    await expect(play(environment, [call('careless', {})])).rejects.toThrow(`tool "careless": ${said}`);
  });

  it('fails the episode if a tool puts into the state what is no data', async () => {
    const careless = tool<z.ZodObject, Shop>({
      name: 'careless',
      description: 'Careless.',
      parameters: z.object({}),
      execute: (_, { update }) => update((state) => ({ ...state, stock: (() => 1) as never })),
    });
    const playing = play(withTools(new ShopEnvironment(), [careless]), [call('careless')]);
    await expect(playing).rejects.toMatchObject({
      message: expect.stringMatching(
        /tool "careless" made a state that cannot be copied \(.*\): keep only data in it/,
      ),
      cause: expect.objectContaining({ name: 'DataCloneError' }),
    });
  });

  it('refuses what is no list of tools, and what is no environment', () => {
    const environment = new ConversationEnvironment();
    expect(() => withTools(environment, { weather } as never)).toThrow('tools: expected a list of tools');
    expect(() => withTools(environment, [{ type: 'function', function: { name: 'x' } }] as never)).toThrow(
      'tools.0: expected a tool; tool({ … }) makes one',
    );
    expect(() => withTools(environment, [weather, undefined] as never)).toThrow('tools.1: expected a tool');
    expect(() => withTools(ConversationEnvironment as never, [weather])).toThrow(
      'got the class ConversationEnvironment; write new ConversationEnvironment()',
    );
    expect(() => withTools({ reset: () => 1 } as never, [weather])).toThrow(
      'got no updateState, isTerminal, buildPrompt',
    );
  });

  it('says of a state of another environment what it lacks', async () => {
    const plain = await new ConversationEnvironment().reset(task as never);
    const environment = withTools(new ConversationEnvironment(), [weather]);
    expect(() => environment.isTerminal(plain as never)).toThrow(
      'expected a state of this environment, from its reset or from a trajectory, got one without the field "tools"',
    );
  });

  it("fails the episode on the first error with onError: 'fail'", async () => {
    const environment = withTools(new ConversationEnvironment(), [broken], { onError: 'fail' });
    await expect(play(environment, [call('broken', { how: 'throw' })])).rejects.toThrow(
      'tool "broken": Error: out of order',
    );
  });

  it('runs the calls of a response at the same time, and applies their changes in order', async () => {
    const environment = withTools(new ShopEnvironment(), [buy]);
    const begun = performance.now();
    const response = call('buy', { count: 1, wait: 60 }) + call('buy', { count: 3, wait: 20 });
    const state = await play(environment, [response]);
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(state.stock).toBe(1);
    expect(
      said(environment as never, state)
        .slice(2)
        .map(({ content }) => content),
    ).toEqual(['4 left', '2 left']);
    expect([environment.outcome?.(state), environment.metrics?.(state).stock]).toEqual([{ stock: 1 }, 1]);
  });

  it('forks an episode from any state', async () => {
    const environment = withTools(new ShopEnvironment(), [buy]);
    const state = await play(environment, [call('buy', { count: 1 })]);
    const copy = structuredClone(state);
    const [one, other] = await Promise.all([
      environment.updateState(state, call('buy', { count: 1 })),
      environment.updateState(copy, call('buy', { count: 4 })),
    ]);
    expect([one.stock, other.stock, state.stock]).toEqual([3, 0, 4]);
    expect(environment.stateKey?.(one)).not.toBe(environment.stateKey?.(other));
    expect(environment.stateKey?.(copy)).toBe(environment.stateKey?.(state));
  });

  it('stops tools when the episode is stopped', async () => {
    const seen = vi.fn();
    const wait = tool({
      name: 'wait',
      description: 'Waits.',
      parameters: z.object({}),
      execute: (_, { signal }) => new Promise(() => signal.addEventListener('abort', seen)),
    });
    const controller = new AbortController();
    const playing = play(withTools(new ConversationEnvironment(), [wait]), [call('wait')], controller.signal);
    setTimeout(() => controller.abort(new Error('stopped')), 20);
    await expect(playing).rejects.toThrow('stopped');
    expect(seen).toHaveBeenCalledOnce();
  });

  it('refuses late changes of the state', async () => {
    let late: (() => void) | undefined;
    const sneaky = tool<z.ZodObject, Shop>({
      name: 'sneaky',
      description: 'Changes the state later.',
      parameters: z.object({}),
      execute: (_, { update }) => {
        late = () => update((state) => ({ ...state, stock: 0 }));
        return 'ok';
      },
    });
    const state = await play(withTools(new ShopEnvironment(), [sneaky]), [call('sneaky')]);
    expect(() => late?.()).toThrow('the call has ended');
    expect(state.stock).toBe(5);
  });

  it('layers: each answers its own calls, the innermost those of no tool', async () => {
    const environment = withVerification(withTools(new ShopEnvironment(), [buy]), [weather], { budget: 1 });
    const state = await play(environment, [
      call('buy', { count: 2 }),
      call('weather', { city: 'Bern' }),
      call('nothing'),
      call('weather', { city: 'Bern' }),
    ]);
    expect([state.tools.calls, state.tools.errors]).toEqual([1, 1]);
    expect([state.verification.calls, state.verification.errors, state.stock]).toEqual([1, 1, 3]);
    expect(environment.metrics?.(state)).toMatchObject({
      'verification/spent': 1,
      'verification/budget': 1,
      'tools/calls': 1,
    });
    const roles = said(environment as never, state).map(({ role }) => role[0]);
    expect(roles.join('')).toBe('uatatatat');
  });

  it('names what is wrong with tools and options', async () => {
    const environment = new ConversationEnvironment();
    expect(() => withTools(environment, [])).toThrow('at least one');
    expect(() => withTools(environment, [weather, weather])).toThrow('two have the name "weather"');
    expect(() => withTools(environment, [weather], { maxCall: 3 } as never)).toThrow('did you mean');
    expect(() => tool({ ...definition, name: 'no spaces', description: '' })).toThrow(
      /name: [\s\S]*description: /,
    );
    expect(() => tool({ ...definition, parameters: z.string() })).toThrow('must be a z.object');
    await expect(play(withTools(withTools(environment, [weather]), [broken]), [])).rejects.toThrow(
      'has a field "tools" already',
    );
  });
});

const definition = { name: 'one', description: 'One.', parameters: z.object({}), execute: () => 1 };

const circle: Record<string, unknown> = {};
circle.self = circle;
const broken = tool({
  name: 'broken',
  description: 'Does not work.',
  parameters: z.object({ how: z.string() }),
  timeoutMs: 50,
  execute({ how }) {
    if (how === 'throw') throw new Error('out of order');
    if (how === 'text') throw 'plain text';
    if (how === 'hang') return new Promise(() => undefined);
    if (how === 'flood') return 'x'.repeat(10_000_000);
    const results: Readonly<Record<string, unknown>> = { function: () => 1, circle, bigint: 1n };
    return results[how];
  },
});
