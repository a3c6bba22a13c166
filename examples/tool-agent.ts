/**
 * Train an agent that calls a tool
 *
 * Somebody asks what to take along to a city. The agent can call the tool `weather` and then answer. Nobody tells it when to
 * call. It is rewarded for the right answer, and less if it calls more than once. The weather changes from task to task, so an
 * agent that answers without calling is right half of the time. The conversation, the tool calls and the reward are those of a
 * chat model. The policy is a table over the last tokens, so the program runs in seconds.
 *
 * ```sh
 * pnpm recipe examples/tool-agent.ts
 * ```
 */
import { GRPOAlgorithm } from '@rlp/algorithms';
import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import type { ChatRenderer, Task } from '@rlp/core';
import {
  ConversationEnvironment,
  type ConversationState,
  type ToolContext,
  taskSource,
  tool,
  withTools,
} from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { rewardFunctions } from '@rlp/rewards';
import * as z from 'zod';

interface Trip {
  readonly weather: 'rain' | 'sun';
}

const cities = ['Bern', 'Rome'];
const packed = { rain: 'umbrella', sun: 'hat' };

const weather = tool({
  name: 'weather',
  description: 'Weather in a city today.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }, { state }: ToolContext<ConversationState<Trip>>) =>
    city === state.prompt[0]?.content ? state.metadata.weather : 'unknown city',
});

const callOf = (city: string) =>
  `<tool_call>{"name": "weather", "arguments": {"city": "${city}"}}</tool_call>`;

/** Each of these is one token: a table cannot spell. A loaded model brings its own tokenizer and chat template. */
const tokenizer = characterTokenizer('\n', {
  end: '<end>',
  others: [...cities, ...cities.map(callOf), 'rain', 'sun', 'unknown city', 'umbrella', 'hat'],
});
const chat: ChatRenderer = {
  render: (messages) => tokenizer.encode(messages.map(({ content }) => content).join('\n')),
};

/** Trains the agent. Yields the mean reward and the mean number of responses of each iteration. */
export async function* trainAgent(iterations: number) {
  const backend = new TabularBackend({
    vocabularySize: tokenizer.vocabularySize,
    contextTokens: 1,
    learningRate: 0.3,
  });
  const tasks = cities.flatMap((city) =>
    (['rain', 'sun'] as const).map((weather): Task<Trip> => {
      return { id: `${city} in ${weather}`, prompt: city, metadata: { weather } };
    }),
  );
  const grpo = new GRPOAlgorithm(
    {
      environment: withTools(new ConversationEnvironment<Trip>(), [weather]),
      tasks: taskSource(tasks),
      rewards: rewardFunctions({
        // 1 for the right answer, −0.5 for a wrong one, less 0.2 for each call beyond the first.
        rightAnswer: ({ response, task, metrics }) => {
          if (response.includes('<tool_call>')) return 0; // cut before it answered
          const isRight = response === packed[task.metadata.weather];
          return (isRight ? 1 : -0.5) - 0.2 * Math.max(0, (metrics?.['tools/calls'] ?? 0) - 1);
        },
      }),
      sampler: new TabularSampler({ backend, tokenizer }),
      backend,
      tokenizer,
      chat,
    },
    {
      tasksPerIteration: 8,
      // Keeps the policy trying: an agent that never called would not find out what it is good for.
      loss: { entropyCoefficient: 0.02 },
      rollout: { groupSize: 16, maxTurns: 4, sampling: { maxTokens: 1 } },
    },
  );
  for await (const { metrics } of grpo.run({ iterations })) {
    yield { reward: metrics['reward/mean'] ?? 0, responses: metrics['trajectories/steps'] ?? 0 };
  }
}

if (import.meta.filename === process.argv[1]) {
  let iteration = 0;
  for await (const { reward, responses } of trainAgent(60))
    if (++iteration % 10 === 0)
      console.log(`iteration ${iteration}: reward ${reward.toFixed(2)}, ${responses.toFixed(1)} responses`);
}
