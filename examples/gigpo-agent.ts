/**
 * Credit for single steps: GiGPO beside GRPO
 *
 * A policy walks through a house: fetch the key, open the door, reach the goal. It is rewarded at the goal only. GRPO gives
 * every step of an episode the same advantage, good moves and bad ones. GiGPO also compares steps that were taken in the same place. In a
 * house people walk in circles, so the same places come up again and again, and the comparison costs nothing. The policy is a table, so
 * the program runs in seconds.
 *
 * ```sh
 * pnpm recipe examples/gigpo-agent.ts
 * ```
 */
import { type AlgorithmOptions, GiGPOAlgorithm, GRPOAlgorithm } from '@rlp/algorithms';
import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import { taskSource } from '@rlp/env';
import { gameEnvironment, keyAndDoor } from '@rlp/env/stock';
import { characterTokenizer } from '@rlp/models';
import { rewardFunctions } from '@rlp/rewards';

const [house] = keyAndDoor.tasks({ count: 1, difficulty: 0.25 });
const places = house!.metadata!.rows.join('').length;

const moves = ['left', 'down', 'right', 'up'];

/** A place, with and without the key, is one token, and so is a move. */
const tokenizer = characterTokenizer('?', {
  end: '<end>',
  others: [...moves, ...Array.from({ length: places }, (_, place) => [`${place}`, `${place}k`]).flat()],
});

/** Trains one policy. Yields the mean reward of each iteration: 1 for the goal, reached within the moves of the task. */
export async function* trainWalker(
  method: 'gigpo' | 'grpo',
  { seed, iterations }: { seed: string; iterations: number },
) {
  const backend = new TabularBackend({
    vocabularySize: tokenizer.vocabularySize,
    contextTokens: 1,
    learningRate: 0.1,
  });
  // The policy knows the four words, as a language model would, but not where to go.
  const words = new Set(moves.flatMap((move) => tokenizer.encode(move)));
  backend.table.logits.forEach((_, at, logits) => {
    if (words.has(at % tokenizer.vocabularySize)) logits[at] = 6;
  });
  const parts = {
    environment: gameEnvironment(keyAndDoor, { prompt: 'key' }),
    tasks: taskSource([house!]),
    rewards: rewardFunctions({ goal: ({ metrics }) => metrics?.['game/solved'] ?? 0 }),
    sampler: new TabularSampler({ backend, tokenizer }),
    backend,
    tokenizer,
  };
  const options = {
    tasksPerIteration: 1,
    // Keeps the policy trying other ways than the first that led to the key.
    loss: { entropyCoefficient: 0.01 },
    rollout: { seed, groupSize: 16, maxTurns: 100, sampling: { maxTokens: 1 } },
  } satisfies AlgorithmOptions;
  const algorithm =
    method === 'gigpo' ? new GiGPOAlgorithm(parts, options) : new GRPOAlgorithm(parts, options);
  for await (const { metrics } of algorithm.run({ iterations })) yield metrics['reward/mean'] ?? 0;
}

if (import.meta.filename === process.argv[1]) {
  const iterations = 64;
  for (const method of ['grpo', 'gigpo'] as const) {
    const means = new Float64Array(8);
    const seeds = ['1', '2', '3', '4', '5'];
    for (const seed of seeds) {
      let iteration = 0;
      for await (const reward of trainWalker(method, { seed, iterations }))
        means[Math.floor(iteration++ / 8)]! += reward / 8 / seeds.length;
    }
    const shown = Array.from(means, (mean) => mean.toFixed(2)).join('  ');
    console.log(`${method.padEnd(5)} goals per episode, eight iterations each: ${shown}`);
  }
}
