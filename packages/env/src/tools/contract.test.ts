import type { State } from '@rlp/core';
import { describeTool } from '@rlp/core/testing';
import { tool as aiTool } from 'ai';
import * as z from 'zod';
import { type ToolContext, tool, toolsFromAiSdk } from '../index.ts';

interface Shop extends State {
  readonly stock: number;
}
const state: Shop = { prompt: 'Buy apples.', response: '', stepCount: 0, stock: 5 };
const parameters = z.object({ count: z.int().min(1) });

describeTool('a function of its arguments', {
  create: () =>
    tool({ name: 'double', description: 'Doubles.', parameters, execute: ({ count }) => 2 * count }),
  state,
  args: { count: 2 },
  wrongArgs: { count: 'two' },
});

describeTool('a tool that changes the state', {
  create: () =>
    tool({
      name: 'buy',
      description: 'Buys apples.',
      parameters,
      execute: ({ count }, { state: { stock }, update }: ToolContext<Shop>) => {
        if (count > stock) throw new Error(`there are ${stock}`);
        update((now) => ({ ...now, stock: now.stock - count }));
        return { left: stock - count };
      },
    }),
  state,
  args: { count: 2 },
  wrongArgs: { count: 6 },
});

describeTool('a tool of the AI SDK', {
  create: () =>
    toolsFromAiSdk({
      double: aiTool({
        description: 'Doubles.',
        inputSchema: parameters,
        execute: async ({ count }) => 2 * count,
      }),
    })[0]!,
  state,
  args: { count: 2 },
  wrongArgs: {},
});
