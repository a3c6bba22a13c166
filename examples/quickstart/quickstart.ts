import { join } from 'node:path';
import { demonstrationSequences, GRPOAlgorithm, runSftTraining } from '@rlp/algorithms';
import { closeRun, loadRun, saveRun } from '@rlp/algorithms/run';
import { createOnnxBackend, estimateMemory, type OnnxBackendOptions } from '@rlp/backprop';
import { type Metrics, RlpError } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import type { LanguageModel } from '@rlp/models';
import { characterTokenizer, createModel, loadModel, parseModelConfig, saveModel } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { createDefaultMonitor } from '@rlp/quality-monitor';
import { exactAnswer, rewardFunctions, tagFormat } from '@rlp/rewards';
import { type ConsoleStream, compositeLogger, consoleLogger, JsonlLogger } from '@rlp/tracking';
import { type AdditionTasks, additionTasks, demonstrations, type Evaluation, evaluate } from './addition.ts';
import type { QuickstartOptions } from './options.ts';
import { conclude, metricsPath, type Progress, percent, startFrom, writeWhole } from './record.ts';

const tags = ['<reasoning>', '</reasoning>', '<answer>', '</answer>'];

/** A Llama of 0.8 million random parameters. Its tokens are digits, `+`, `=`, `,` and four tags. */
export function newModel(seed: string): LanguageModel {
  const tokenizer = characterTokenizer('0123456789+=,', { begin: '<s>', end: '</s>', others: tags });
  return createModel({
    config: parseModelConfig({
      model_type: 'llama',
      architectures: ['LlamaForCausalLM'],
      vocab_size: tokenizer.vocabularySize,
      hidden_size: 128,
      num_hidden_layers: 4,
      num_attention_heads: 4,
      num_key_value_heads: 4,
      intermediate_size: 352,
      max_position_embeddings: 64,
      tie_word_embeddings: true,
      initializer_range: 0.05,
    }),
    tokenizer,
    seed,
  });
}

/** Two views of one set of weights in the engine: the backend trains it, the sampler generates with it. */
export async function policyOf(
  engine: Engine,
  model: LanguageModel,
  learning: Pick<OnnxBackendOptions, 'learningRate' | 'schedule'>,
) {
  const backend = await createOnnxBackend({ engine, model, ...learning, tokensPerMicroBatch: 8192 });
  const sampler = createOnnxSampler({ engine, model, maxSequences: 256 });
  const inference = await InferenceModule.create({ backend: sampler });
  const close = async () => {
    await inference.close();
    await backend.close();
  };
  return { backend, inference, close };
}

/** One run of the quickstart. */
interface Run {
  readonly options: QuickstartOptions;
  readonly engine: Engine;
  /** Ends the run. */
  readonly signal: AbortSignal;
  /** Receives progress. */
  readonly stream: ConsoleStream;
  readonly tasks: AdditionTasks;
  readonly progress: Progress;
}

const clock = () => performance.now();
const say = (stream: ConsoleStream, line: string) => stream.write(`${line}\n`);
const checkpoints = ({ out }: QuickstartOptions, stage: 'sft' | 'rl') => join(out, 'checkpoints', stage);

/** Iterations between two checkpoints, and between two measurements on held-out problems. */
const every = 25;

/** Logs a stage and saves it every 25 iterations and at its end. */
async function follow<State extends { readonly iteration: number }>(
  { options, stream, signal }: Run,
  stage: 'sft' | 'rl',
  loop: {
    readonly reports: AsyncIterable<{ iteration: number; metrics: Metrics; state: State }>;
    readonly startedAt: number | undefined;
    readonly save: (state: State) => Promise<unknown>;
    readonly measure?: () => Promise<Metrics>;
  },
): Promise<void> {
  const [label, iterations] =
    stage === 'sft' ? ['SFT ', options['sft-updates']] : ['GRPO', options['rl-iterations']];
  const logger = compositeLogger(
    new JsonlLogger({ path: metricsPath(options, stage) }),
    consoleLogger({ label, iterations, startedAt: loop.startedAt ?? 0, stream }),
  );
  let latest: State | undefined;
  try {
    for await (const { iteration, metrics, state } of loop.reports) {
      latest = state;
      const isDue = state.iteration % every === 0;
      logger.log(iteration, isDue ? { ...metrics, ...(await loop.measure?.()) } : metrics);
      if (isDue) await loop.save(state);
    }
    if (latest !== undefined) await loop.save(latest);
  } finally {
    await logger.close();
  }
  signal.throwIfAborted();
}

/** Supervised fine-tuning on the demonstrations of a careless teacher. */
async function imitate(run: Run): Promise<Progress> {
  const { options, engine, signal, stream, tasks, progress } = run;
  const { seed, carelessness, 'sft-updates': updates, resume } = options;
  const model = newModel(seed);
  const parameters = [...model.weights.values()].reduce((sum, { data }) => sum + data.length, 0);
  say(
    stream,
    `A Llama of ${(parameters / 1e6).toFixed(2)} million random weights, ${engine.threads} threads.`,
  );
  say(stream, estimateMemory({ config: model.config, rows: 256, length: 32 }).table);

  const schedule = { kind: 'cosine', warmup: Math.min(20, updates - 1), updates, minimumRatio: 0.1 } as const;
  const { backend, inference, close } = await policyOf(engine, model, { learningRate: 2e-3, schedule });
  const before = progress.before ?? (await evaluate(inference, tasks.heldOut, signal));
  say(stream, `Held-out accuracy before training: ${percent(before.accuracy)}`);
  const folder = checkpoints(options, 'sft');
  const state = resume ? await loadRun(folder, backend, 'sft') : undefined;
  const sequences = demonstrations(tasks.demonstrated, { seed, carelessness }).flatMap((demonstration) =>
    demonstrationSequences(demonstration, model),
  );
  await follow(run, 'sft', {
    reports: runSftTraining(
      { backend, sequences, clock, signal },
      { seed, updates, sequencesPerBatch: 64, resume: state },
    ),
    startedAt: state?.iteration,
    save: (reached) => saveRun(folder, backend, { kind: 'sft', state: reached }),
  });
  await inference.updateWeights(await backend.publish({ as: 'shared' }));
  const afterSft = await evaluate(inference, tasks.heldOut, signal);
  await saveModel(join(options.out, 'sft'), { ...model, weights: await backend.getWeights() });
  await close();
  return { ...progress, parameters, before, afterSft };
}

/** Problems that measure accuracy during GRPO. */
const glance = ({ heldOut }: AdditionTasks) => heldOut.slice(0, 100);

/** GRPO with a reward for the right answer and a small one for the form. */
async function practise(run: Run): Promise<Evaluation> {
  const { options, engine, signal, tasks } = run;
  const { seed, 'rl-iterations': iterations, 'rl-problems': tasksPerIteration, resume } = options;
  const model = await loadModel(join(options.out, 'sft'));
  const schedule = { kind: 'cosine', updates: iterations, minimumRatio: 0.1 } as const;
  const { backend, inference, close } = await policyOf(engine, model, { learningRate: 3e-4, schedule });
  const folder = checkpoints(options, 'rl');
  const state = resume ? await loadRun(folder, backend, 'rl') : undefined;
  const algorithm = new GRPOAlgorithm(
    {
      environment: new SimpleTextEnvironment(),
      tasks: taskSource(tasks.practised, { seed }),
      sampler: inference,
      backend,
      tokenizer: model.tokenizer,
      rewards: rewardFunctions({
        accuracy: exactAnswer({ reference: ({ answer }) => answer }),
        format: { reward: tagFormat({ tags: ['reasoning', 'answer'] }), weight: 0.2 },
      }),
      ...{ clock, monitor: createDefaultMonitor({ console: 'off' }) },
    },
    {
      seed,
      tasksPerIteration,
      loss: { clipLow: 0.2, clipHigh: 0.28 },
      referenceKl: 'always',
      rollout: { seed, groupSize: 8, sampling: { maxTokens: 40 } },
    },
  );
  await follow(run, 'rl', {
    reports: algorithm.run({ iterations, signal, resume: state }),
    startedAt: state?.iteration,
    save: (reached) => saveRun(folder, backend, { kind: 'rl', state: reached }),
    measure: async () => ({ 'held-out/accuracy': (await evaluate(inference, glance(tasks))).accuracy }),
  });
  const evaluation = await evaluate(inference, tasks.heldOut, signal);
  await saveModel(join(options.out, 'checkpoint'), { ...model, weights: await backend.getWeights() });
  await close();
  return evaluation;
}

/** Runs both stages from where an earlier run stopped. Progress and samples go to `stream`. */
export async function quickstart(
  options: QuickstartOptions,
  { signal, stream }: { readonly signal: AbortSignal; readonly stream: ConsoleStream },
) {
  const path = join(options.out, 'progress.json');
  let progress = await startFrom(options);
  const start = clock() - 1000 * progress.seconds;
  const remember = async (found: Progress) => {
    progress = { ...found, seconds: (clock() - start) / 1000 };
    await writeWhole(path, JSON.stringify(progress));
  };
  await remember(progress);
  const engine = await createEngine(options.threads === undefined ? {} : { threads: options.threads });
  try {
    const tasks = additionTasks(options.seed, { heldOut: options['held-out'] });
    const run = { options, engine, signal, stream, tasks };
    if (progress.afterSft === undefined) await remember(await imitate({ ...run, progress }));
    say(stream, `Held-out accuracy after SFT: ${percent(progress.afterSft?.accuracy ?? 0)}`);
    const afterRl = await practise({ ...run, progress });
    await remember(progress);
    const { summary, table } = await conclude(options, progress, afterRl);
    say(stream, `\n${table}\n`);
    return summary;
  } finally {
    if (signal.aborted) await remember(progress);
    await engine.close();
    const held = [checkpoints(options, 'sft'), checkpoints(options, 'rl'), options.out];
    for (const directory of held) await closeRun(directory);
  }
}

/** An expected error as one line. Others are bugs, whose stack helps. */
export function explained(error: unknown): unknown {
  if (error instanceof RlpError) return error.message;
  return error instanceof Error && 'syscall' in error ? `quickstart: ${error.message}` : error;
}
