/**
 * An agent that calculates, written with the AI SDK
 *
 * Nothing here knows how its model is trained. It runs against every server of OpenAI's API:
 *
 * ```sh
 * OPENAI_BASE_URL=https://api.openai.com/v1 OPENAI_API_KEY=… MODEL=… pnpm recipe examples/calculating-agent.ts '47*85='
 * ```
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, tool } from 'ai';
import * as z from 'zod';

const numbers = z.object({ a: z.number(), b: z.number() });
const tools = {
  add: tool({ description: 'Adds two numbers.', inputSchema: numbers, execute: ({ a, b }) => a + b }),
  multiply: tool({ description: 'Multiplies two.', inputSchema: numbers, execute: ({ a, b }) => a * b }),
};

type Model = { readonly baseURL: string; readonly apiKey: string; readonly model: string };

/** Answers a question such as `47*85=`. */
export async function calculate(question: string, { baseURL, apiKey, model }: Model, signal?: AbortSignal) {
  const provider = createOpenAICompatible({ name: 'calculator', baseURL, apiKey });
  const asked = { model: provider(model), prompt: question, tools, stopWhen: stepCountIs(3) };
  const { text } = await generateText({ ...asked, ...(signal && { abortSignal: signal }) });
  return text;
}

if (import.meta.filename === process.argv[1]) {
  const { OPENAI_BASE_URL: baseURL = '', OPENAI_API_KEY: apiKey = '', MODEL: model = '' } = process.env;
  console.log(await calculate(process.argv[2] ?? '47*85=', { baseURL, apiKey, model }));
}
