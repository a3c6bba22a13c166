import type { Message, ToolCall } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConversationEnvironment, tool, toolsFromMcp, type WithToolsOptions, withTools } from '../index.ts';
import { readModelOutput, textOfPart } from './model-output.ts';
import { runCall } from './run-call.ts';
import type { Tool } from './tool.ts';
import { withVerification } from './with-tools.ts';

const call = (name: string, args: unknown = {}) =>
  `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;
const say = (name: string, cost = 1, result: unknown = 'ok') =>
  tool({ name, description: 'Says it.', parameters: z.object({}), cost, execute: () => result });

/** What the policy reads of its calls, and where the episode then stands. */
async function heard(tools: readonly Tool[], options: WithToolsOptions, responses: readonly string[]) {
  const within = new ConversationEnvironment({ maxTurns: 99, nextUserTurn: () => 'More.' });
  const environment = withTools(within, tools, options);
  let state = await environment.reset({ id: 't', prompt: 'Go.', metadata: undefined }, 1);
  for (const response of responses) state = await environment.updateState(state, response);
  const messages = environment.buildPrompt(state) as readonly Message[];
  return {
    messages,
    read: messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])),
    isOver: environment.isTerminal(state),
    end: environment.termination!(state),
    metrics: environment.metrics!(state),
  };
}

const one = call('a');
const times = (count: number, text: string) => Array.from({ length: count }, () => text);

describe('limits of calls', () => {
  it.each<[string, WithToolsOptions, readonly string[], readonly string[]]>([
    [
      'calls of an episode',
      { maxCalls: 2 },
      [one, one + one],
      ['ok', 'ok', 'Error: all 2 calls are used up. Answer without calling.'],
    ],
    [
      'calls of a response',
      { maxCallsPerTurn: 2 },
      [one.repeat(3), one],
      ['ok', 'ok', 'Error: at most 2 calls in one response.', 'ok'],
    ],
    [
      'the budget',
      { budget: 2.5 },
      [one, one + one],
      ['ok', 'ok', 'Error: the budget of 2.5 does not cover this call (1).'],
    ],
    ['a budget that is spent exactly', { budget: 2 }, [one, one], ['ok', 'ok']],
    ['no budget', { budget: 0 }, [one], ['Error: the budget of 0 does not cover this call (1).']],
    [
      'calls of an episode by default',
      {},
      times(33, one),
      [...times(32, 'ok'), 'Error: all 32 calls are used up. Answer without calling.'],
    ],
    [
      'calls of a response by default',
      {},
      [one.repeat(9)],
      [...times(8, 'ok'), 'Error: at most 8 calls in one response.'],
    ],
  ])('hold: %s', async (_, options, responses, read) => {
    const found = await heard([say('a')], options, responses);
    expect(found.read).toEqual(read);
    expect(found.isOver).toBe(false);
    const ran = read.filter((text) => text === 'ok').length;
    const { budget } = options;
    expect(found.metrics).toEqual({
      ...{ 'tools/calls': ran, 'tools/errors': read.length - ran, 'tools/spent': ran },
      ...(budget !== undefined && { 'tools/budget': budget }),
    });
  });

  it.each<[string, WithToolsOptions, readonly string[], string | undefined]>([
    ['all calls are made', { maxCalls: 2 }, [one, one], 'tools: 2 calls, cost 2'],
    ['a call is left', { maxCalls: 2 }, [one], undefined],
    ['not even the cheapest call is covered', { budget: 3 }, [call('b')], 'tools: 1 call, cost 3'],
    ['the cheapest call is covered exactly', { budget: 3 }, [one, one], undefined],
    ['there is no limit', {}, [one], undefined],
  ])('end the episode if that is asked for: %s', async (_, options, responses, detail) => {
    const tools = [say('b', 3), say('a')];
    const found = await heard(tools, { ...options, whenSpent: 'end' }, responses);
    expect([found.isOver, found.end]).toEqual(
      detail === undefined ? [false, { reason: 'environment' }] : [true, { reason: 'budget', detail }],
    );
    expect((await heard(tools, options, responses)).isOver).toBe(false);
  });

  it('let no call of the tools within pass beside others', async () => {
    const within = withTools(new ConversationEnvironment(), [say('in')]);
    const outer = withVerification(within, [say('a')], { budget: 9 });
    const begun = await outer.reset({ id: 't', prompt: 'Go.', metadata: undefined }, 1);
    const state = await outer.updateState(begun, call('a') + call('in'));
    expect((outer.buildPrompt(state) as readonly Message[]).slice(-2).map(({ content }) => content)).toEqual([
      'ok',
      'Error: call this tool in another response than a.',
    ]);
  });
});

it('calls have ids by their place, or those that the policy gave', async () => {
  const { messages } = await heard([say('a')], {}, [one, one.repeat(11)]);
  const ids = messages.flatMap(({ tool_call_id: id }) => id ?? []);
  expect(ids).toEqual(Array.from({ length: 12 }, (_, place) => `call${String(place).padStart(5, '0')}`));
  const kimi = `<|tool_call_begin|>functions.a:7<|tool_call_argument_begin|>{}<|tool_call_end|>`;
  const given = await heard([say('a')], {}, [
    `<|tool_calls_section_begin|>${kimi}<|tool_calls_section_end|>`,
  ]);
  expect(given.messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'functions.a:7' });
});

describe('results', () => {
  const text = 'ab😀cd';
  it.each([
    [6, text],
    [5, 'ab😀c… (1 more characters)'],
    [4, 'ab😀… (2 more characters)'],
    [3, 'ab… (4 more characters)'],
    [2, 'ab… (4 more characters)'],
    [1, 'a… (5 more characters)'],
  ])('are cut behind %i units, never within a character', async (maxResultCharacters, read) => {
    expect((await heard([say('a', 1, text)], { maxResultCharacters }, [one])).read).toEqual([read]);
  });

  it('of errors are cut as well', async () => {
    const found = await heard([say('a', 1, 1n)], { maxResultCharacters: 10 }, [one]);
    expect(found.read[0]).toMatch(/^Error: the… \(\d+ more characters\)$/);
  });

  it.each([
    ['[1]', 'Error: wrong arguments: expected an object'],
    ['null', 'Error: wrong arguments: expected an object'],
    ['{"a": 1', /^Error: .*JSON/],
    ['{"a": 1}', 'ok'],
  ])('of arguments %s', async (written, content) => {
    const made: ToolCall = { id: '1', type: 'function', function: { name: 'a', arguments: written } };
    const state = { prompt: '', response: '', stepCount: 0 };
    const result = await runCall(say('a', 7), made, state, { signal: undefined, maxResultCharacters: 99 });
    expect(result.content).toEqual(typeof content === 'string' ? content : expect.stringMatching(content));
    expect([result.cost, result.changes, result.error === undefined]).toEqual([7, [], content === 'ok']);
  });
});

describe('tool', () => {
  const parameters = z.object({ low: z.number(), high: z.number() });
  const definition = { name: 'x', description: 'X.', parameters, execute: () => 1 };

  it('takes the edges of its options, and refuses what is beyond', () => {
    for (const fits of [
      { name: 'a'.repeat(64) },
      { name: 'A-b_c.9' },
      { cost: 0 },
      { timeoutMs: 1 },
      { parameters: { type: 'object' } },
    ])
      expect(() => tool({ ...definition, ...fits } as never), JSON.stringify(fits)).not.toThrow();
    for (const wrong of [
      { name: '' },
      { name: 'a'.repeat(65) },
      { name: 'a b' },
      { description: '' },
      { cost: -0.1 },
      { timeoutMs: 0 },
      { execute: 1 },
      { parameters: { type: 'array' } },
      { parameters: { type: 'object', properties: 7 } },
      { parameters: undefined },
      { parameters: z.array(z.string()) },
    ])
      expect(() => tool({ ...definition, ...wrong } as never), JSON.stringify(wrong)).toThrow(
        new RegExp(`tool[\\s\\S]*${Object.keys(wrong)[0]}`),
      );
    expect([tool(definition).cost, tool(definition).timeoutMs]).toEqual([1, 10_000]);
  });

  it('says which argument is wrong, or that all together are', async () => {
    const ordered = parameters.refine(({ low, high }) => low < high, 'low must be below high');
    const both = tool({ ...definition, parameters: ordered });
    const run = async (args: Readonly<Record<string, unknown>>) => both.run(args, {} as never);
    await expect(run({ low: 2, high: 1 })).rejects.toThrow(
      'wrong arguments: arguments: low must be below high',
    );
    await expect(run({ low: 'a', high: null })).rejects.toThrow(/^wrong arguments: low: .+; high: .+$/);
    await expect(run({ low: 1, high: 2 })).resolves.toBe(1);
  });
});

describe('what is read of foreign tools', () => {
  it.each<[unknown, unknown]>([
    ['text', 'text'],
    [null, null],
    [{ type: 'text', value: 'a' }, 'a'],
    [{ type: 'json', value: { a: 1 } }, { a: 1 }],
    [{ type: 'content', value: [{ type: 'text', text: 'a' }, 7, { type: 'media' }] }, 'a\n\n[media]'],
    [
      { type: 'content', value: 'a' },
      { type: 'content', value: 'a' },
    ],
    [
      { type: 'other', value: 1 },
      { type: 'other', value: 1 },
    ],
  ])('of the output %j', (output, read) => {
    expect(readModelOutput(output)).toEqual(read);
  });

  it.each([
    [{ type: 'error-text', value: 'closed' }, 'closed'],
    [{ type: 'error-json', value: { code: 7 } }, '{"code":7}'],
    [{ type: 'execution-denied', reason: 'too late' }, 'denied: too late'],
    [{ type: 'execution-denied' }, 'denied: no reason given'],
  ])('of the error %j', (output, message) => {
    expect(() => readModelOutput(output)).toThrow(new Error(message));
  });

  it.each<[unknown, string]>([
    [undefined, ''],
    [{ type: 'text', text: 'a' }, 'a'],
    [{ type: 'resource', resource: { text: 'a', uri: 'x' } }, 'a'],
    [{ type: 'resource', resource: 7, text: 'b' }, 'b'],
    [{ type: 'image', data: 'AA' }, '[image]'],
    [{ type: 'resource_link', uri: 'file:///a' }, '[resource_link file:///a]'],
  ])('of the part %j', (part, text) => {
    expect(textOfPart(part)).toBe(text);
  });

  const client = (results: unknown) => ({
    listTools: async (params?: { cursor?: string }) =>
      params === undefined
        ? { tools: [{ name: 'first', inputSchema: { type: 'object', $schema: 'x' } }], nextCursor: '2' }
        : {
            tools: [{ name: `after ${params.cursor}`, description: 'Two.', inputSchema: { type: 'object' } }],
          },
    callTool: async (...given: readonly unknown[]) =>
      results === 'given' ? { structuredContent: given } : results,
  });

  it('of all pages of a server, with what it is told', async () => {
    const tools = await toolsFromMcp(client('given'), { cost: 3, timeoutMs: 50 });
    expect(tools.map(({ schema, cost, timeoutMs }) => [schema.function, cost, timeoutMs])).toEqual([
      [{ name: 'first', parameters: { type: 'object' } }, 3, 50],
      [{ name: 'after 2', description: 'Two.', parameters: { type: 'object' } }, 3, 50],
    ]);
    expect(await tools[1]!.run({ a: 1 }, {} as never)).toBe(
      '[{"name":"after 2","arguments":{"a":1}},null,{"timeout":50}]',
    );
  });

  it.each<[unknown, string]>([
    [
      { content: [{ type: 'text', text: 'a' }, { type: 'audio' }], structuredContent: { b: 1 } },
      'a\n[audio]',
    ],
    [{ content: [], structuredContent: { b: 1 } }, '{"b":1}'],
    [{ content: [] }, ''],
    [{ content: 'a' }, ''],
    [undefined, ''],
  ])('of the answer %j', async (results, text) => {
    const [tool] = await toolsFromMcp(client(results));
    expect(await tool!.run({}, {} as never)).toBe(text);
  });

  it('of an answer that is an error', async () => {
    const [tool] = await toolsFromMcp(client({ isError: true, content: [{ type: 'text', text: 'broken' }] }));
    await expect(async () => tool!.run({}, {} as never)).rejects.toThrow(new Error('broken'));
  });
});
