import { type Task, trajectoryGroupSchema } from '@rlp/core';
import type { ScriptedBackendOptions } from '@rlp/inference';
import OpenAI from 'openai';
import { onTestFinished } from 'vitest';
import { type AgentConnection, type CaptureOptions, captureRollouts } from '../capture.ts';
import { scriptedPolicy } from '../served.fixture.ts';

export const task: Task = { id: 'a/b', prompt: 'What is the weather in Rome?', metadata: undefined };

/** One group of an agent against a scripted policy. */
export async function collect(
  completions: ScriptedBackendOptions['completions'],
  run: CaptureOptions['run'],
  options: Partial<CaptureOptions> = {},
) {
  const rollouts = captureRollouts({
    ...{ policy: scriptedPolicy(completions), run, groupSize: 1, transport: 'fetch' },
    ...options,
  });
  onTestFinished(() => rollouts.close());
  const groups = [];
  for await (const group of rollouts.collectGroups([task], { iteration: 3 })) {
    groups.push(trajectoryGroupSchema.parse(JSON.parse(JSON.stringify(group))));
  }
  return { rollouts, trajectories: groups.flatMap(({ trajectories }) => trajectories) };
}

/** A client of OpenAI that asks once. */
export const clientOf = ({ baseURL, apiKey, fetch }: AgentConnection) =>
  new OpenAI({ baseURL, apiKey, fetch, maxRetries: 0 });

/** What a generator yields. */
export async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = [];
  for await (const value of values) list.push(value);
  return list;
}

/** The answer to a conversation. */
export const ask = async (connection: AgentConnection, messages: OpenAI.ChatCompletionMessageParam[]) => {
  const { choices } = await clientOf(connection).chat.completions.create({ model: 'gpt-4o', messages });
  return choices[0]!.message;
};
