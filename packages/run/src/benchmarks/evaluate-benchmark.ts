import {
  ArgumentError,
  type EvaluatedTask,
  type Evaluation,
  type Measure,
  messageOf,
  requireArguments,
  type Task,
  type TokenScorer,
} from '@rlp/core';
import { rewardFunctions } from '@rlp/rewards';
import pLimit from 'p-limit';
import { type EvaluateOptions, evaluate } from '../evaluate/evaluate.ts';
import { shareOfParts } from '../evaluate/intervals.ts';
import { resolveSettings } from '../evaluate/options.ts';
import { summary } from '../evaluate/summary.ts';
import type { AnswerBenchmark, Benchmark, ChoiceBenchmark } from './benchmark.ts';
import { type ChoicePolicy, choiceMetrics, chooseOption, failedChoice } from './choose.ts';

/** Options of {@link evaluateBenchmark}. What a benchmark fixes is not among them. */
export interface EvaluateBenchmarkOptions
  extends Omit<EvaluateOptions, 'tasks' | 'environment' | 'rewards' | 'answer' | 'policy'> {
  /** From `readBenchmark`. */
  readonly benchmark: Benchmark;
  /** Policy that answers. Benchmarks of options ask `scorer`, others `sampler`. */
  readonly policy: EvaluateOptions['policy'] & { readonly scorer?: TokenScorer | undefined };
}

/**
 * Evaluates a policy on a benchmark. The metrics have the names and, for equal responses, the values of lm_eval.
 *
 * Benchmarks with options take one set of probabilities per task, so `samples` does not apply to them.
 *
 * @throws what `evaluate` throws, and ArgumentError for options to compare without a scorer.
 */
export async function evaluateBenchmark(options: EvaluateBenchmarkOptions): Promise<Evaluation> {
  requireArguments('evaluateBenchmark', { options: 'object' }, options);
  const { benchmark, ...rest } = options;
  if (!Array.isArray(benchmark?.tasks))
    throw new ArgumentError('evaluateBenchmark: expected a benchmark; readBenchmark makes one of rows');
  return benchmark.kind === 'answer' ? answered(benchmark, rest) : chosen(benchmark, rest);
}

type Rest = Omit<EvaluateBenchmarkOptions, 'benchmark'>;

async function answered(benchmark: AnswerBenchmark, options: Rest): Promise<Evaluation> {
  const { name, tasks, answer, metric, metrics, sampling, parts } = benchmark;
  const main = options.metric ?? metric;
  const weighed = Object.entries(metrics).map(([part, reward]) => {
    return [part, { reward, weight: part === main ? 1 : 0 }] as const;
  });
  const record = await evaluate({
    name,
    ...options,
    tasks,
    metric: main,
    // A program may run for long, and a metric that only looks on must not take the evaluation down.
    rewards: rewardFunctions(Object.fromEntries(weighed), { timeoutMs: 120_000 }),
    answer,
    sampling: { ...sampling, ...options.sampling },
  });
  return parts === undefined ? record : withParts(record, tasks, parts);
}

/** Replaces the means over tasks by means over the parts of tasks. */
function withParts(
  record: Evaluation,
  tasks: readonly Task[],
  { metrics, of }: NonNullable<AnswerBenchmark['parts']>,
): Evaluation {
  const counts = new Map(tasks.map((task) => [task.id, of(task)]));
  const measured = metrics.flatMap((name) => {
    const measure = partsMeasure(record.tasks, name, counts, record.confidence);
    return measure === undefined ? [] : [[name, measure] as const];
  });
  return { ...record, components: { ...record.components, ...Object.fromEntries(measured) } };
}

function partsMeasure(
  tasks: readonly EvaluatedTask[],
  name: string,
  counts: ReadonlyMap<string, number>,
  confidence: number,
): Measure | undefined {
  const rows = tasks.map(({ task, components }) => {
    const scores = (components[name] ?? []).filter((score) => score !== null);
    return { scores, weight: counts.get(task) ?? 1 };
  });
  return shareOfParts(
    rows.filter(({ scores }) => scores.length > 0),
    confidence,
  );
}

async function chosen(benchmark: ChoiceBenchmark, options: Rest): Promise<Evaluation> {
  const { policy, onScored, signal, ...given } = options;
  const { scorer, sampler, tokenizer } = policy;
  if (scorer === undefined) {
    throw new ArgumentError(
      `evaluateBenchmark: ${benchmark.name} compares the probabilities of options; pass policy.scorer, such as an InferenceModule`,
    );
  }
  const settings = resolveSettings({ name: benchmark.name, ...given, samples: 1, k: [] });
  const metric = settings.metric ?? benchmark.metric;
  const { policyVersion } = sampler;
  const asked: ChoicePolicy = { scorer, tokenizer, policyVersion };
  const metrics = Object.entries(choiceMetrics(benchmark)).map(([name, reward]) => {
    return [name, { reward, weight: name === metric ? 1 : 0 }] as const;
  });
  const rewards = rewardFunctions(Object.fromEntries(metrics));
  const limit = pLimit(settings.concurrency);
  const groups = await Promise.all(
    benchmark.tasks.map((task) =>
      limit(async () => {
        signal?.throwIfAborted();
        const trajectory = await chooseOption(task, asked, signal).catch((error: unknown) => {
          signal?.throwIfAborted();
          return failedChoice(task, asked, messageOf(error));
        });
        const group = { id: `0/${task.id}`, task, trajectories: [trajectory] };
        const trajectories = await rewards.computeRewards(group, { signal });
        onScored?.(trajectories as never);
        return { task, trajectories: trajectories as never };
      }),
    ),
  );
  return summary(groups, benchmark.tasks, { settings: { ...settings, metric }, policyVersion, notes: [] });
}
