/** An agent that calculates, as one writes it with Mastra. Nothing here knows how its model is trained. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import * as z from 'zod';

const inputSchema = z.object({ a: z.number(), b: z.number() });
const tools = {
  add: createTool({
    ...{ id: 'add', description: 'Adds two numbers.', inputSchema },
    execute: async ({ context: { a, b } }) => a + b,
  }),
  multiply: createTool({
    ...{ id: 'multiply', description: 'Multiplies two.', inputSchema },
    execute: async ({ context: { a, b } }) => a * b,
  }),
};

export async function calculate(question, { baseURL, apiKey, model }, signal) {
  const provider = createOpenAICompatible({ name: 'calculator', baseURL, apiKey });
  const agent = new Agent({ name: 'calculator', instructions: '', model: provider(model), tools });
  const { steps } = await agent.generate(question, { maxSteps: 3, abortSignal: signal });
  return steps.at(-1).text;
}
