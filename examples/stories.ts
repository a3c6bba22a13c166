/**
 * Train a story model to use a word
 *
 * GRPO on a pretrained model that lives in the repository: a Llama with 0.26 million parameters that tells stories. The reward
 * asks for a given word, a proper ending and no repetition. A KL penalty keeps the language close to the pretrained model's.
 *
 * ```sh
 * pnpm recipe examples/stories.ts --word happy
 * ```
 * It prints the mean reward on 64 held-out openings before and after: 0.149 and 0.957, at a KL of 0.37 nats per token. Metrics and
 * a checkpoint are in `runs/stories`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { GRPOAlgorithm } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { RandomStream, type RewardFunction, type Sampler, type Task, type Tokenizer } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler } from '@rlp/inference';
import { loadModel, saveModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';
import { RolloutManager } from '@rlp/rollout';
import { compositeLogger, consoleLogger, JsonlLogger } from '@rlp/tracking';

/** The word that a story has to contain. */
type Wish = { readonly word: string };

const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}']+/gu) ?? [];

/** 1 if the story contains the word. */
const containsWord: RewardFunction<Wish> = ({ response, task }) =>
  words(response).includes(task.metadata.word.toLowerCase()) ? 1 : 0;

/** 1 if the policy ended the story itself, at the end of a sentence. */
const endsCleanly: RewardFunction = ({ response, status }) =>
  status === 'completed' && /[.!?]["']?\s*$/.test(response) ? 1 : 0;

/** Share of three-word sequences that occur once. */
const freshness: RewardFunction = ({ response }) => {
  const sequence = words(response);
  const triples = sequence.slice(2).map((_, start) => sequence.slice(start, start + 3).join(' '));
  return triples.length === 0 ? 0 : new Set(triples).size / triples.length;
};

const rewards = rewardFunctions<Wish>({
  word: { reward: containsWord, weight: 0.45 },
  ending: { reward: endsCleanly, weight: 0.45 },
  freshness: { reward: freshness, weight: 0.1 },
});

const environment = new SimpleTextEnvironment<Wish>();

/** 960 openings such as `Once upon a time, there was a kind frog named Lily.` */
function storyTasks(word: string, seed: string): Task<Wish>[] {
  const traits = ['little', 'big', 'brave', 'small', 'kind', 'funny', 'tiny', 'clever'];
  const heroes = ['girl', 'boy', 'cat', 'dog', 'bear', 'bird', 'rabbit', 'frog', 'mouse', 'duck'];
  const names = ['Lily', 'Tom', 'Mia', 'Ben', 'Sue', 'Max', 'Anna', 'Tim', 'Lucy', 'Sam', 'Amy', 'Jack'];
  const openings = traits.flatMap((trait) =>
    heroes.flatMap((hero) =>
      names.map((name) => `Once upon a time, there was a ${trait} ${hero} named ${name}.`),
    ),
  );
  const shuffled = RandomStream.named(seed, 'openings').shuffle(openings);
  return shuffled.map((prompt) => ({ id: prompt, prompt, metadata: { word } }));
}

/** Mean reward of one sampled story per opening, and the first story. */
async function evaluate(
  policy: { sampler: Sampler; tokenizer: Tokenizer },
  tasks: readonly Task<Wish>[],
  maxTokens: number,
) {
  const manager = new RolloutManager(
    { environment, ...policy },
    { groupSize: 1, seed: 'held-out', sampling: { maxTokens } },
  );
  const scored = [];
  for await (const group of manager.collectGroups(tasks, { iteration: 0 }))
    scored.push(...(await rewards.computeRewards(group)));
  const mean = scored.reduce((sum, { reward }) => sum + (reward ?? 0), 0) / scored.length;
  const first = scored[0]?.trajectory;
  return { mean, story: `${String(first?.task.prompt)} ${first?.response}` };
}

/** Trains the model in `folder` and writes the result to `out`. */
export async function trainStories(
  given: { folder: string; out: string; word: string; iterations: number },
  { tasksPerIteration = 16, maxTokens = 96, heldOutTasks = 64 } = {},
) {
  const { folder, out, word, iterations } = given;
  const engine = await createEngine();
  try {
    const model = await loadModel(folder);
    const { tokenizer } = model;
    const backend = await createOnnxBackend({ engine, model, learningRate: 5e-4 });
    const sampler = await createOnnxSampler({ engine, model, maxSequences: 128 });
    const tasks = storyTasks(word, '0');
    const heldOut = tasks.slice(0, heldOutTasks);
    const before = await evaluate({ sampler, tokenizer }, heldOut, maxTokens);
    const logger = compositeLogger(
      new JsonlLogger({ path: join(out, 'metrics.jsonl') }),
      consoleLogger({ iterations, stream: process.stdout }),
    );
    const training = taskSource(tasks.slice(heldOutTasks));
    const grpo = new GRPOAlgorithm(
      { environment, tasks: training, sampler, backend, tokenizer, rewards, logger },
      {
        tasksPerIteration,
        loss: { clipHigh: 0.28, klCoefficient: 0.1 },
        referenceKl: 'always',
        rollout: { groupSize: 8, sampling: { maxTokens } },
      },
    );
    const { history } = await grpo.train({ iterations });
    await logger.close();
    const after = await evaluate({ sampler, tokenizer }, heldOut, maxTokens);
    await saveModel(join(out, 'checkpoint'), { ...model, weights: await backend.getWeights() });
    return { before, after, kl: history.at(-1)?.['kl/reference'] ?? 0 };
  } finally {
    await engine.close();
  }
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({
    options: {
      model: { type: 'string', default: join(import.meta.dirname, 'models/stories260k') },
      out: { type: 'string', default: 'runs/stories' },
      word: { type: 'string', default: 'happy' },
      iterations: { type: 'string', default: '80' },
    },
  });
  const { model: folder, out, word, iterations } = values;
  if (existsSync(out)) throw new Error(`${out} holds an earlier run; start another with --out DIR`);
  const { before, after, kl } = await trainStories({ folder, out, word, iterations: Number(iterations) });
  console.log(`\nBefore: ${before.story}\n\nAfter: ${after.story}\n`);
  console.log(
    `Mean reward on held-out openings: ${before.mean.toFixed(3)} before, ${after.mean.toFixed(3)} after.`,
  );
  console.log(`KL to the pretrained model: ${kl.toFixed(3)} nats per token.`);
}
