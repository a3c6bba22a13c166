/** An agent that calculates, as one writes it with LangChain.js. Nothing here knows how its model is trained. */
import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import * as z from 'zod';

const schema = z.object({ a: z.number(), b: z.number() });
const tools = [
  tool(({ a, b }) => String(a + b), { name: 'add', description: 'Adds two numbers.', schema }),
  tool(({ a, b }) => String(a * b), { name: 'multiply', description: 'Multiplies two.', schema }),
];

export async function calculate(question, { baseURL, apiKey, model }, signal) {
  const llm = new ChatOpenAI({ model, apiKey, configuration: { baseURL } });
  const messages = [{ role: 'user', content: question }];
  const result = await createReactAgent({ llm, tools }).invoke({ messages }, { signal });
  return result.messages.at(-1).content;
}
