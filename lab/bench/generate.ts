import { RandomStream } from '@rlp/core';
import { createOnnxSampler } from '@rlp/inference';
import { createEngine } from '@rlp/onnx/runtime';
import {
  type Measurement,
  type MeasureOptions,
  operatorShares,
  peakMebibytes,
  timeRuns,
} from './measurement.ts';
import { type BenchShape, benchModel } from './shapes.ts';

/** Sampling at temperature 1 with log-probabilities of the chosen tokens, all prompts at once, no two alike. */
export async function measureGenerate(shape: BenchShape, options: MeasureOptions): Promise<Measurement> {
  const { conversations } = shape;
  const engine = await createEngine({
    threads: options.threads,
    executionProvider: options.provider,
    profiling: options.profiling === 'operators' ? 'on' : 'off',
  });
  const backend = await createOnnxSampler({
    engine,
    model: benchModel(shape),
    weights: options.weights,
    ...(conversations
      ? {
          maxSequences: conversations.episodes,
          contextLength: wholeLength(conversations),
          prefixCacheBytes: 512 * 2 ** 20,
        }
      : { maxSequences: shape.prompts, contextLength: shape.promptLength + shape.newTokens }),
  });
  const run = (index: number) => (conversations ? converse : complete)(backend, shape, index);
  const times = await timeRuns(options, run);
  const extra =
    options.profiling === 'operators' ? { operators: operatorShares(await engine.profile()) } : {};
  await backend.close();
  await engine.close();
  const tokens = conversations
    ? conversations.episodes * conversations.turns * conversations.action
    : shape.prompts * shape.newTokens;
  return { ...times, tokens, peakRssMiB: peakMebibytes(), extra };
}

type Backend = Awaited<ReturnType<typeof createOnnxSampler>>;
type Conversations = NonNullable<BenchShape['conversations']>;

function wholeLength({ prompt, turns, action, observation }: Conversations): number {
  return prompt + turns * (action + observation);
}

async function complete(backend: Backend, shape: BenchShape, run: number): Promise<void> {
  const random = RandomStream.named('bench', 'prompts', run);
  const draw = () => Array.from({ length: shape.promptLength }, () => random.integer(shape.vocabulary));
  const requests = Array.from({ length: shape.prompts }, (_, row) => ({
    prompt: draw(),
    seed: `${run}/${row}`,
  }));
  await Promise.all(
    requests.map((request) => backend.sample({ ...request, count: 1, maxTokens: shape.newTokens })),
  );
}

async function converse(backend: Backend, shape: BenchShape, run: number): Promise<void> {
  const { episodes, turns, prompt, action, observation } = shape.conversations!;
  const episode = async (index: number) => {
    const random = RandomStream.named('bench', 'conversation', run, index);
    const draw = (count: number) => Array.from({ length: count }, () => random.integer(shape.vocabulary));
    let history = draw(prompt);
    for (let turn = 0; turn < turns; turn++) {
      const seed = `${run}/${index}/${turn}`;
      const [completion] = await backend.sample({ prompt: history, count: 1, maxTokens: action, seed });
      history = [...history, ...completion!.tokens, ...draw(observation)];
    }
  };
  await Promise.all(Array.from({ length: episodes }, (_, index) => episode(index)));
}
