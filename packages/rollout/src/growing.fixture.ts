/** For tests: an environment whose text grows, and managers of it. */
import type { Environment, State, Task } from '@rlp/core';
import { RolloutManager, type RolloutOptions } from './index.ts';
import { characters, type MockPolicyOptions, mockPolicy, type Speak } from './testing.ts';

/** A text that grows by responses and an inserted `|`, over after `turns` of them (from the metadata). */
export interface GrowingState extends State {
  readonly prompt: string;
  readonly turns: number;
}

export const growing: Environment<GrowingState, number> = {
  reset: ({ prompt, metadata }) => ({ prompt: String(prompt), response: '', stepCount: 0, turns: metadata }),
  buildPrompt: ({ prompt }) => prompt,
  updateState: (state, response) => ({
    ...state,
    prompt: `${state.prompt}${response}|`,
    response,
    stepCount: state.stepCount + 1,
  }),
  isTerminal: ({ stepCount, turns }) => stepCount >= turns,
};

export const task = (id: string, turns = 1): Task<number> => ({ id, prompt: `${id}?`, metadata: turns });
export const tasks = (count: number, turns = 1) =>
  Array.from({ length: count }, (_, index) => task(`t${index}`, turns));

/** Words that depend on the stream alone. */
export const babble: Speak = (_, stream) =>
  Array.from({ length: 1 + stream.integer(4) }, () => stream.integer(10)).join('');

export interface Setting {
  readonly environment?: Environment<GrowingState, number>;
  readonly sampler?: MockPolicyOptions;
  readonly options?: RolloutOptions;
}

export function manage({ environment = growing, sampler, options }: Setting = {}) {
  const recording = mockPolicy({ speak: babble, ...sampler }).sampler;
  const dependencies = { environment, sampler: recording, tokenizer: characters };
  const manager = new RolloutManager(dependencies, { groupSize: 3, ...options });
  return { manager, sampler: recording };
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
