/**
 * Train an agent that calls a tool
 *
 * Somebody asks what to take along to a city. The agent can call the tool `weather` and then answer. Nobody tells it when to
 * call: it is rewarded for the right answer, and less if it calls more than once. The conversation, the tool calls and the reward
 * are those of a chat model. The policy is a table over the last tokens, so the program runs in seconds.
 *
 * ```sh
 * pnpm recipe examples/tool-agent.ts
 * ```
 */
import { GRPOAlgorithm } from '@rlp/algorithms';
import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import { type ChatRenderer, type Message, parseToolCalls, type State, type Task } from '@rlp/core';
import { BaseEnvironment, taskSource } from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { rewardFunctions } from '@rlp/rewards';

interface Trip {
  /** The right answer. */
  readonly expected: string;
}

interface Dialogue extends State {
  readonly messages: readonly Message[];
  readonly calls: number;
  readonly isOver: boolean;
}

const weather: Readonly<Record<string, string>> = { Bern: 'rain', Oslo: 'rain', Rome: 'sun', Cairo: 'sun' };

/** Tools are functions from arguments to text. A wrong argument is an answer too, so that the agent can try again. */
const tools: Readonly<Record<string, (given: { readonly city?: string }) => string>> = {
  weather: ({ city = '' }) => weather[city] ?? 'unknown city',
};

/** How a dialogue ended. */
interface Answer {
  readonly answer: string | undefined;
  readonly calls: number;
}

class TravelDesk extends BaseEnvironment<Dialogue, Trip, Answer> {
  override reset({ prompt }: Task<Trip>): Dialogue {
    const messages: readonly Message[] = [{ role: 'user', content: String(prompt) }];
    return { prompt, response: '', stepCount: 0, messages, calls: 0, isOver: false };
  }

  override buildPrompt({ messages }: Dialogue) {
    return messages;
  }

  override isTerminal({ isOver }: Dialogue) {
    return isOver;
  }

  override updateState(state: Dialogue, response: string): Dialogue {
    const { calls } = parseToolCalls(response, new Set(Object.keys(tools)));
    const answers = calls.map(
      ({ id, function: { name, arguments: json } }): Message => ({
        role: 'tool',
        tool_call_id: id,
        content: tools[name]!(JSON.parse(json)),
      }),
    );
    return {
      ...state,
      response,
      stepCount: state.stepCount + 1,
      calls: state.calls + calls.length,
      messages: [...state.messages, { role: 'assistant', content: response }, ...answers],
      isOver: calls.length === 0,
    };
  }

  override outcome({ response, calls, isOver }: Dialogue): Answer {
    return { answer: isOver ? response : undefined, calls };
  }
}

const cities = Object.keys(weather);
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

/** Trains the agent. Yields the mean reward of each iteration. */
export async function* trainAgent(iterations: number): AsyncGenerator<number> {
  const backend = new TabularBackend({
    vocabularySize: tokenizer.vocabularySize,
    contextTokens: 1,
    learningRate: 0.5,
  });
  const tasks = cities.map((city) => ({
    id: city,
    prompt: city,
    metadata: { expected: weather[city] === 'rain' ? 'umbrella' : 'hat' },
  }));
  const grpo = new GRPOAlgorithm(
    {
      environment: new TravelDesk(),
      tasks: taskSource(tasks),
      rewards: rewardFunctions({
        // 1 for the right answer, less 0.2 for each call beyond the first.
        rightAnswer: ({ outcome, task }) =>
          outcome?.answer === task.metadata.expected ? 1 - 0.2 * Math.max(0, outcome.calls - 1) : 0,
      }),
      sampler: new TabularSampler({ backend, tokenizer }),
      backend,
      tokenizer,
      chat,
    },
    { tasksPerIteration: 8, rollout: { groupSize: 16, maxTurns: 4, sampling: { maxTokens: 1 } } },
  );
  for await (const { metrics } of grpo.run({ iterations })) yield metrics['reward/mean'] ?? 0;
}

if (import.meta.filename === process.argv[1]) {
  let iteration = 0;
  for await (const reward of trainAgent(80))
    if (++iteration % 10 === 0) console.log(`iteration ${iteration}: reward ${reward.toFixed(2)}`);
}
