import {
  demonstrationSequences,
  GRPOAlgorithm,
  type RlState,
  runSftTraining,
  type SftState,
} from '@rlp/algorithms';
import { saveRun } from '@rlp/algorithms/run';
import type { Metrics, MetricsLogger, Tokenizer } from '@rlp/core';
import { type ArithmeticMetadata, SimpleTextEnvironment, taskSource } from '@rlp/env';
import type { Engine } from '@rlp/onnx/runtime';
import { createDefaultMonitor } from '@rlp/quality-monitor';
import { exactAnswer, rewardFunctions, tagFormat } from '@rlp/rewards';
import type { ConsoleStream } from '@rlp/tracking';
import { type AdditionTasks, demonstrations } from './addition.ts';
import { evaluate } from './evaluate.ts';
import type { QuickstartOptions } from './options.ts';
import type { Learning, Policy } from './policy.ts';
import type { Progress } from './progress.ts';

/** One run of the quickstart. */
export interface Run {
  readonly options: QuickstartOptions;
  readonly engine: Engine;
  /** Ends the run. */
  readonly signal: AbortSignal;
  /** Where progress is told. */
  readonly stream: ConsoleStream;
  readonly tasks: AdditionTasks;
  readonly progress: Progress;
}

/** What a stage is given. */
export interface StageContext<State> {
  readonly run: Run;
  readonly policy: Policy;
  readonly tokenizer: Tokenizer;
  readonly logger: MetricsLogger;
  /** Directory of the stage's checkpoints. */
  readonly checkpoints: string;
  readonly resume: State | undefined;
}

/** A high rate that decays for imitation. */
export const imitation = ({ sftUpdates }: QuickstartOptions): Learning => ({
  learningRate: 2e-3,
  schedule: { kind: 'cosine', warmup: Math.min(20, sftUpdates - 1), updates: sftUpdates, minimumRatio: 0.1 },
});

/** A low one for practice, that decays as well: the last updates polish. */
export const practice = ({ rlIterations }: QuickstartOptions): Learning => ({
  learningRate: 3e-4,
  schedule: { kind: 'cosine', updates: rlIterations, minimumRatio: 0.1 },
});

/** Iterations between two looks at held-out problems, and between two checkpoints. */
const every = 25;

/** Supervised fine-tuning on a careless teacher's demonstrations. */
export async function imitate(context: StageContext<SftState>): Promise<void> {
  const { run, policy, tokenizer, logger, checkpoints, resume } = context;
  const { seed, carelessness, sftUpdates } = run.options;
  const sequences = demonstrations(run.tasks.demonstrated, { seed, carelessness }).flatMap((demonstration) =>
    demonstrationSequences(demonstration, { tokenizer }),
  );
  let state = resume;
  const loop = runSftTraining(
    { backend: policy.backend, sequences, clock: () => performance.now(), signal: run.signal },
    { seed, updates: sftUpdates, sequencesPerBatch: 64, resume },
  );
  for await (const report of loop) {
    state = report.state;
    logger.log(report.iteration, report.metrics);
    if (state.iteration % every === 0) await saveRun(checkpoints, policy.backend, { kind: 'sft', state });
  }
  if (state !== undefined) await saveRun(checkpoints, policy.backend, { kind: 'sft', state });
}

/** GRPO with a reward for the right answer and a small one for the form. */
export async function practise(context: StageContext<RlState>): Promise<void> {
  const { run, policy, tokenizer, logger, checkpoints, resume } = context;
  const { seed, rlIterations, rlProblems } = run.options;
  const algorithm = new GRPOAlgorithm(
    {
      environment: new SimpleTextEnvironment<ArithmeticMetadata>(),
      tasks: taskSource(run.tasks.practised, { seed }),
      sampler: policy.inference,
      backend: policy.backend,
      tokenizer,
      rewards: rewardFunctions<ArithmeticMetadata>({
        accuracy: { reward: exactAnswer<ArithmeticMetadata>({ reference: ({ answer }) => answer }) },
        format: { reward: tagFormat({ tags: ['reasoning', 'answer'] }), weight: 0.2 },
      }),
      monitor: createDefaultMonitor({ console: 'off' }),
      clock: () => performance.now(),
    },
    {
      seed,
      tasksPerIteration: rlProblems,
      loss: { clipLow: 0.2, clipHigh: 0.28 },
      referenceKl: 'always',
      rollout: { seed, groupSize: 8, sampling: { maxTokens: 40 } },
    },
  );
  const glance = run.tasks.heldOut.slice(0, 100);
  let state = resume;
  for await (const report of algorithm.run({ iterations: rlIterations, signal: run.signal, resume })) {
    state = report.state;
    let metrics: Metrics = report.metrics;
    if (state.iteration % every === 0) {
      await saveRun(checkpoints, policy.backend, { kind: 'rl', state });
      const { accuracy } = await evaluate(policy.inference, glance);
      metrics = { ...metrics, 'held-out/accuracy': accuracy };
    }
    logger.log(report.iteration, metrics);
  }
  if (state !== undefined) await saveRun(checkpoints, policy.backend, { kind: 'rl', state });
}
