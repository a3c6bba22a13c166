import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOnnxBackend } from '@rlp/backprop';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { createModel, parseModelConfig } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { chainTasks, rightMoves, starts, tokenizer } from './chain.fixture.ts';
import { type AlgorithmName, type Lesson, learningCurve, lessons } from './runs.fixture.ts';

/** A Llama of one layer and width 16 with random weights. */
function tinyModel(seed: string) {
  const config = parseModelConfig({
    model_type: 'llama',
    vocab_size: tokenizer.vocabularySize,
    hidden_size: 16,
    intermediate_size: 32,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    max_position_embeddings: 8,
    tie_word_embeddings: false,
    initializer_range: 0.1,
  });
  return createModel({ config, tokenizer, seed });
}

/** How fast it learns what, and how many iterations of 32 episodes it has. */
const courses = {
  bandit: { learningRate: 0.015, iterations: 12 },
  chain: { learningRate: 0.01, iterations: 10 },
} satisfies Record<Lesson, object>;

/** A transformer to be taught, with another one as critic: one engine and its graphs for any number of runs. */
export interface Pupil {
  /** Share of episodes that succeeded, by iteration, of a run that begins with the weights of `seed` and a new optimizer. */
  learn(algorithm: AlgorithmName, seed: string): Promise<number[]>;
  /** The probability of a right first move with the weights of `seed`, mean over the starts. */
  untrained(seed: string): Promise<number>;
  close(): Promise<void>;
}

/** Starts the engine of a {@link Pupil}. Its calls must not overlap. */
export async function createPupil(lesson: Lesson): Promise<Pupil> {
  const { learningRate, iterations } = courses[lesson];
  const engine = await createEngine({ thread: 'inline', threads: 1 });
  const model = tinyModel('1');
  const training = { engine, model, learningRate, optimizer: { weightDecay: 0 }, reference: 'none' } as const;
  const backend = await createOnnxBackend(training);
  const critic = await createOnnxBackend({ ...training, store: 'critic', valueHead: 'linear' });
  const served = createOnnxSampler({ engine, model, maxSequences: 64 });
  const sampler = await InferenceModule.create({ backend: served });
  const directory = await mkdtemp(join(tmpdir(), 'rlp-pupil-'));
  const policyOnly = [{ network: backend, fresh: join(directory, 'policy') }];
  const withCritic = [...policyOnly, { network: critic, fresh: join(directory, 'critic') }];
  for (const { network, fresh } of withCritic) await network.saveCheckpoint(fresh);

  const begin = async (seed: string, networks: typeof withCritic) => {
    const { weights } = tinyModel(seed);
    for (const { network, fresh } of networks) {
      await network.loadCheckpoint(fresh);
      await network.loadWeights(weights);
    }
  };
  return {
    learn: async (algorithm, seed) => {
      await begin(seed, algorithm === 'PPO' ? withCritic : policyOnly);
      const setup = { ...lessons[lesson], backend, critic, sampler, tokenizer, tasks: chainTasks() };
      return learningCurve(algorithm, { lesson, seed, iterations }, setup);
    },
    untrained: async (seed) => {
      await begin(seed, policyOnly);
      const moves = starts.flatMap((start) => rightMoves(start).map((move) => [start, move] as const));
      const scores = await backend.logprobs(moves.map(([start, move]) => tokenizer.encode(start + move)));
      return scores.reduce((sum, { logprobs }) => sum + Math.exp(logprobs[1]!), 0) / starts.length;
    },
    close: async () => {
      await engine.close();
      await rm(directory, { recursive: true });
    },
  };
}
