/**
 * Train against a simulated user
 *
 * A guest wants tea or coffee, and says so only if asked. Now and then they do not hear the question. The agent learns to ask, to ask again,
 * and to serve what the guest wants. The guest here is a function. A model takes its place by `samplerGenerator` or
 * `chatCompletionsGenerator`. The policy is a table over the last words, so the program runs in seconds.
 *
 * ```sh
 * pnpm recipe examples/simulated-user.ts
 * ```
 */
import { GRPOAlgorithm } from '@rlp/algorithms';
import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import { type ChatRenderer, RandomStream, type Task, type TextGenerator } from '@rlp/core';
import { ConversationEnvironment, taskSource, withUser } from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { rewardFunctions } from '@rlp/rewards';

interface Guest {
  readonly drink: 'tea' | 'coffee';
}

const drinks = ['tea', 'coffee'] as const;
const tasks = drinks.map((drink): Task<Guest> => {
  return { id: drink, prompt: 'Good morning.', metadata: { drink } };
});

const ask = 'What would you like?';
const wish = (drink: string) => `I would like ${drink}.`;
const deaf = 'Pardon?';

/** The guest. Its instructions are in the system message, its random stream is named by the seed of the request. */
const guest: TextGenerator = async (messages, { seed }) => {
  const [system, ...talk] = messages;
  const drink = drinks.find((each) => system?.content.includes(wish(each)))!;
  const heard = talk.at(-1)?.content;
  if (drinks.some((each) => each === heard)) return '###STOP###'; // served, rightly or not
  return heard === ask && RandomStream.named(seed ?? '').uniform() < 0.8 ? wish(drink) : deaf;
};

const environment = withUser(new ConversationEnvironment<Guest>(), guest, {
  instructions: ({ metadata }) => `You are a guest. ${wish(metadata.drink)} Say so only if you are asked.`,
  maxTurns: 4,
});

/** Each of these is one token, because a table cannot spell. */
const others = [...drinks, ...drinks.map(wish), ask, deaf, 'Good morning.', 'Nice weather.'];
const tokenizer = characterTokenizer('\n', { end: '<end>', others });
const chat: ChatRenderer = {
  render: (messages) => tokenizer.encode(messages.map(({ content }) => content).join('\n')),
};

/** Trains the agent. Yields the share of guests who got what they wanted, and the answers of guests, per iteration. */
export async function* trainWaiter({
  seed,
  iterations,
}: {
  readonly seed: string;
  readonly iterations: number;
}) {
  const backend = new TabularBackend({
    vocabularySize: tokenizer.vocabularySize,
    contextTokens: 1,
    learningRate: 0.1,
  });
  let seen: { readonly right: number; readonly turns: number }[] = [];
  const grpo = new GRPOAlgorithm(
    {
      environment,
      tasks: taskSource(tasks),
      rewards: rewardFunctions<Guest>({
        served: ({ response, task, metrics }) => {
          const right = response === task.metadata.drink ? 1 : 0;
          const turns = metrics?.['user/turns'] ?? 0;
          seen.push({ right, turns });
          return right - 0.05 * turns;
        },
      }),
      sampler: new TabularSampler({ backend, tokenizer }),
      backend,
      tokenizer,
      chat,
    },
    {
      tasksPerIteration: 8,
      loss: { entropyCoefficient: 0.03 },
      rollout: { seed, groupSize: 16, maxTurns: 6, sampling: { maxTokens: 1 } },
    },
  );
  const mean = (key: 'right' | 'turns') => seen.reduce((sum, each) => sum + each[key], 0) / seen.length;
  for await (const _ of grpo.run({ iterations })) {
    yield { served: mean('right'), turns: mean('turns') };
    seen = [];
  }
}

if (import.meta.filename === process.argv[1]) {
  for (const seed of ['1', '2', '3']) {
    let iteration = 0;
    for await (const { served, turns } of trainWaiter({ seed, iterations: 80 }))
      if (iteration++ % 79 === 0)
        console.log(
          `seed ${seed}, iteration ${iteration}: ${(100 * served).toFixed(1)} % served rightly, ${turns.toFixed(2)} answers of the guest`,
        );
  }
}
