import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { tool as aiTool, jsonSchema } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConversationEnvironment, toolsFromAiSdk, toolsFromMcp, withTools } from '../index.ts';
import { type McpServerProcess, startMcpServer, stdioServer } from './mcp-server.fixture.ts';
import type { Tool } from './tool.ts';

/** What a policy that makes one call reads. */
async function answer(tools: readonly Tool[], name: string, args: unknown): Promise<string> {
  const environment = withTools(new ConversationEnvironment(), tools);
  const state = await environment.reset({ id: 't', prompt: 'Hi.', metadata: undefined }, 1);
  const text = `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;
  const after = await environment.updateState(state, text);
  const last = environment.buildPrompt(after).at(-1);
  return typeof last === 'object' ? last.content : '';
}

describe('tools of the AI SDK', () => {
  const made = () =>
    toolsFromAiSdk({
      add: aiTool({
        description: 'Adds.',
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        execute: ({ a, b }, { toolCallId }) => `${a + b} for ${toolCallId}`,
      }),
      count: aiTool({
        inputSchema: jsonSchema<{ to: number }>(
          { type: 'object', properties: { to: { type: 'number' } } },
          {
            validate: (value) =>
              typeof (value as { to?: unknown }).to === 'number'
                ? { success: true, value: value as { to: number } }
                : { success: false, error: new Error('to is no number') },
          },
        ),
        async *execute({ to }) {
          for (let now = 1; now <= to; now++) yield `at ${now}`;
        },
      }),
    });

  it('run as they are, with their schemas', async () => {
    const tools = made();
    expect(tools[0]?.schema.function).toMatchObject({
      name: 'add',
      description: 'Adds.',
      parameters: { type: 'object', required: ['a', 'b'] },
    });
    expect(await answer(tools, 'add', { a: 2, b: 3 })).toBe('5 for call00000');
    expect(tools[1]?.schema.function.parameters).toEqual({
      type: 'object',
      properties: { to: { type: 'number' } },
    });
    expect(await answer(tools, 'count', { to: 3 })).toBe('at 3');
  });

  it('show the policy what toModelOutput makes of the result', async () => {
    const shown = toolsFromAiSdk({
      weather: aiTool({
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => ({ city, degrees: 21 }),
        toModelOutput: ({ output }) => ({ type: 'text', value: `${output.degrees} in ${output.city}` }),
      }),
      parts: aiTool({
        inputSchema: z.object({}),
        execute: () => 'a map',
        toModelOutput: ({ output }) => ({
          type: 'content',
          value: [
            { type: 'text', text: output },
            { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
          ],
        }),
      }),
      numbers: aiTool({
        inputSchema: z.object({}),
        execute: () => 3,
        toModelOutput: ({ output }) => ({ type: 'json', value: { count: output } }),
      }),
      closed: aiTool({
        inputSchema: z.object({}),
        execute: () => 'secret',
        toModelOutput: () => ({ type: 'error-text', value: 'the shop is closed' }),
      }),
    });
    expect(await answer(shown, 'weather', { city: 'Bern' })).toBe('21 in Bern');
    expect(await answer(shown, 'parts', {})).toBe('a map\n[image-data]');
    expect(await answer(shown, 'numbers', {})).toBe('{"count":3}');
    expect(await answer(shown, 'closed', {})).toBe('Error: the shop is closed');
  });

  it('refuse wrong arguments', async () => {
    const tools = made();
    expect(await answer(tools, 'add', { a: 2 })).toContain('Error: wrong arguments: b: ');
    expect(await answer(tools, 'count', {})).toBe('Error: to is no number');
  });

  it('are refused without execute or with a schema that cannot be read', () => {
    expect(() => toolsFromAiSdk({ ask: aiTool({ inputSchema: z.object({}) }) })).toThrow(
      '"ask" has no execute',
    );
    expect(() => toolsFromAiSdk({ ask: { inputSchema: {}, execute: () => 1 } })).toThrow(
      'wrap it in jsonSchema()',
    );
  });
});

describe('tools of an MCP server', () => {
  let server: McpServerProcess;
  const clients: Client[] = [];

  beforeAll(async () => {
    server = await startMcpServer();
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    server.stop();
  });

  const connect = async (over: 'stdio' | 'http') => {
    const client = new Client({ name: 'test', version: '1' });
    clients.push(client);
    await client.connect(
      over === 'stdio'
        ? new StdioClientTransport(stdioServer)
        : new StreamableHTTPClientTransport(server.url),
    );
    return client;
  };

  it.each(['stdio', 'http'] as const)('run as they are, over %s', async (over) => {
    const tools = await toolsFromMcp(await connect(over), { timeoutMs: 5000 });
    expect(tools.map(({ schema }) => schema.function.name)).toEqual(['add', 'picture', 'fail']);
    expect(tools[0]?.schema.function.parameters).toMatchObject({ type: 'object', required: ['a', 'b'] });
    expect(await answer(tools, 'add', { a: 2, b: 3 })).toBe('5');
    expect(await answer(tools, 'picture', {})).toBe(
      'Look:\n[image]\nA hill.\n[resource_link file:///hill.png]',
    );
    expect(await answer(tools, 'fail', {})).toContain('Error: out of order');
    expect(await answer(tools, 'add', { a: 'two', b: 3 })).toMatch(/^Error: /);
  });

  it('are refused from what is no client', async () => {
    await expect(toolsFromMcp('http://localhost' as never)).rejects.toThrow(
      'expected a client of @modelcontext',
    );
    expect(() => toolsFromAiSdk([{}] as never)).toThrow('expected an object of tools by name');
    expect(() => toolsFromAiSdk({ weather: null } as never)).toThrow('expected an object of tools by name');
  });

  it('tell the policy that their server died', async () => {
    const client = await connect('stdio');
    const tools = await toolsFromMcp(client, { timeoutMs: 2000 });
    await client.close();
    expect(await answer(tools, 'add', { a: 2, b: 3 })).toMatch(/^Error: /);
  });
});
