import type { RewardFunction, Task } from '@rlp/core';
import type { CodeRunner } from '@rlp/sandbox';

/** A row of a benchmark's file, as its publisher wrote it. */
export type BenchmarkRow = Readonly<Record<string, unknown>>;

/** How prompts are written. */
export interface BenchmarkOptions {
  /**
   * `'completion'` writes the prompt that lm_eval writes without examples, for base models. `'chat'` asks in one user message.
   * Default `'completion'`.
   */
  readonly style?: 'completion' | 'chat' | undefined;
  /** Runs programs. Required by HumanEval and MBPP: `pythonRunner()` of `@rlp/sandbox/python`. */
  readonly runner?: CodeRunner | undefined;
  /** Name in error messages, such as the file. Default: the name of the benchmark. */
  readonly source?: string | undefined;
}

interface Common {
  /** Such as `gsm8k`. */
  readonly name: string;
  /** The metric that gives the accuracy. */
  readonly metric: string;
}

/** Tasks that the policy answers in words, with the metrics that score the responses. */
export interface AnswerBenchmark extends Common {
  readonly kind: 'answer';
  readonly tasks: readonly Task[];
  /** Metrics by the name that lm_eval gives them. `ours` is the more careful grader of rlp, where there is one. */
  readonly metrics: Readonly<Record<string, RewardFunction>>;
  /** Metrics that count parts of a task, with the number of parts. Their mean is over all parts, not over tasks. */
  readonly parts?: { readonly metrics: readonly string[]; readonly of: (task: Task) => number } | undefined;
  /** Answer of a response in comparable form, for maj@k. */
  readonly answer?: ((response: string) => string | undefined) | undefined;
  /** Longest response in tokens, and the texts that end one. */
  readonly sampling: { readonly maxTokens: number; readonly stopStrings?: readonly string[] };
}

/** A question with options, of which one is right. */
export interface ChoiceMetadata {
  /** Text of each option, as it follows the prompt. */
  readonly choices: readonly string[];
  /** 1 for right options and 0 for others, in the order of `choices`. */
  readonly labels: readonly number[];
}

/** Tasks whose options are compared by their probability. */
export interface ChoiceBenchmark extends Common {
  readonly kind: 'choice';
  readonly tasks: readonly Task<ChoiceMetadata>[];
  /** `'choose'`: `acc` and `acc_norm`. `'mass'`: probability of all right options together, as MC2 of TruthfulQA. */
  readonly scoring: 'choose' | 'mass';
}

/** A benchmark in memory: tasks and how lm_eval scores them. */
export type Benchmark = AnswerBenchmark | ChoiceBenchmark;
