import { type Demonstration, demonstrationSequences, GRPOAlgorithm, runSftTraining } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { RandomStream, type Task } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler, type InferenceBackend } from '@rlp/inference';
import { characterTokenizer, createModel, type LanguageModel, parseModelConfig } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';
import { type GameName, type Puzzle, puzzlesOf, score } from './games.ts';

/** What the page shows of one update. */
export interface Progress {
  /** `imitate`: it copies careless answers. `practise`: it learns from rewards alone. */
  readonly phase: 'imitate' | 'practise';
  /** Updates so far. */
  readonly done: number;
  readonly total: number;
  /** Share of right answers to puzzles that training does not see. Absent for updates that did not measure it. */
  readonly accuracy?: number | undefined;
  /** Mean reward of the iteration. Absent while it imitates. */
  readonly reward?: number | undefined;
  /** Answers to the same puzzles each time. */
  readonly answers?: readonly Answer[] | undefined;
}

/** A puzzle, and what the model says. */
export interface Answer {
  readonly prompt: string;
  readonly right: string;
  readonly response: string;
}

/** What is learned, and for how long. */
export interface LearnOptions {
  readonly game: GameName;
  readonly seed: string;
  /** Updates on careless examples. */
  readonly imitations: number;
  /** Updates by rewards. */
  readonly iterations: number;
  /** Ends the training after the update under way. The model is what it has become. */
  readonly signal: AbortSignal;
}

/** Puzzles that training does not see. */
const heldOut = 64;
const measureEvery = 10;

/** A transformer of 85 000 weights with random numbers. */
export function newModel(seed: string): LanguageModel {
  const tokenizer = characterTokenizer('abcdefghijklmnopqrstuvwxyz0123456789+=>', {
    begin: '<s>',
    end: '</s>',
  });
  const config = parseModelConfig({
    ...{ model_type: 'llama', vocab_size: tokenizer.vocabularySize, hidden_size: 64, intermediate_size: 128 },
    ...{ num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 4, max_position_embeddings: 32 },
    ...{ rms_norm_eps: 1e-5, hidden_act: 'silu', tie_word_embeddings: true, initializer_range: 0.08 },
  });
  return createModel({ config, tokenizer, seed });
}

/** Teaches a model a game: first by careless examples, then by rewards alone. Returns the model. */
export async function* learn(
  engine: Engine,
  model: LanguageModel,
  { game, seed, imitations, iterations, signal }: LearnOptions,
): AsyncGenerator<Progress, LanguageModel> {
  const { tokenizer } = model;
  const [shown, tasks] = tasksOf(game, seed);
  const schedule = { kind: 'linear', updates: imitations + iterations } as const;
  const backend = await createOnnxBackend({ engine, model, learningRate: 2e-3, schedule, reference: 'none' });
  const sampler = await createOnnxSampler({ engine, model, maxSequences: heldOut });
  const total = imitations + iterations;

  const measured = async (done: number) => {
    if (done % measureEvery !== 0) return {};
    await sampler.updateWeights(await backend.publish({ as: 'shared' }));
    const answers = await answersOf(sampler, model, shown);
    const accuracy = answers.filter(({ response, right }) => response === right).length / answers.length;
    return { accuracy, answers: answers.slice(0, 8) };
  };

  try {
    yield { phase: 'imitate', done: 0, total, ...(await measured(0)) };
    const sequences = tasks.flatMap((task) => demonstrationSequences(carelessly(task, seed), model));
    const imitating = { updates: imitations, sequencesPerBatch: 32, seed };
    for await (const { iteration } of runSftTraining({ backend, sequences }, imitating)) {
      yield { phase: 'imitate', done: iteration + 1, total, ...(await measured(iteration + 1)) };
      if (signal.aborted) break;
    }
    const algorithm = new GRPOAlgorithm(
      {
        environment: new SimpleTextEnvironment<Metadata>(),
        rewards: rewardFunctions<Metadata>({
          score: ({ response, task }) => score(response, task.metadata!.right),
        }),
        tasks: taskSource(tasks, { seed }),
        ...{ sampler, tokenizer, backend },
      },
      { seed, tasksPerIteration: 16, rollout: { groupSize: 8, sampling: { maxTokens: 8 } } },
    );
    const practice = signal.aborted ? [] : algorithm.run({ iterations });
    for await (const { iteration, metrics } of practice) {
      const done = imitations + iteration + 1;
      yield { phase: 'practise', done, total, reward: metrics['reward/mean'], ...(await measured(done)) };
      if (signal.aborted) break;
    }
    return { ...model, weights: await backend.getWeights() };
  } finally {
    await sampler.close();
    await backend.close();
  }
}

interface Metadata {
  readonly right: string;
}

/** Puzzles to measure with, and others to learn from. */
function tasksOf(game: GameName, seed: string): readonly [readonly Puzzle[], readonly Task<Metadata>[]] {
  const [shown, all] = [puzzlesOf(game, `${seed} held out`, heldOut), puzzlesOf(game, seed, 3500)];
  const known = new Set(shown.map(({ prompt }) => prompt));
  const others = all.filter(({ prompt }) => !known.has(prompt));
  return [shown, others.map(({ prompt, right }) => ({ id: prompt, prompt, metadata: { right } }))];
}

/** An example to imitate. Half of them have their letters in any order. */
function carelessly({ prompt, metadata }: Task<Metadata>, seed: string): Demonstration {
  const random = RandomStream.named(seed, 'careless', String(prompt));
  const { right } = metadata!;
  const completion = random.uniform() < 0.5 ? right : random.shuffle([...right]).join('');
  return { prompt: String(prompt), completion };
}

/** Answers as the model samples them. */
async function answersOf(
  sampler: InferenceBackend,
  { tokenizer }: LanguageModel,
  puzzles: readonly Puzzle[],
): Promise<Answer[]> {
  return Promise.all(
    puzzles.map(async ({ prompt, right }) => {
      const asked = {
        prompt: tokenizer.encode(prompt),
        maxTokens: 8,
        count: 1,
        temperature: 1,
        seed: prompt,
      };
      const [completion] = await sampler.sample(asked);
      return { prompt, right, response: tokenizer.decode(completion!.tokens) };
    }),
  );
}
