/** Evaluation of policies: accuracy with confidence intervals, pass@k, benchmarks, comparison of checkpoints. */

export { type CompareOptions, type Comparison, compareEvaluations } from './evaluate/compare.ts';
export {
  type EvaluateCollectedOptions,
  type EvaluateOptions,
  type EvaluationRewards,
  evaluate,
} from './evaluate/evaluate.ts';
export { wilsonInterval } from './evaluate/intervals.ts';
export type { EvaluateSettings, MeasuringSettings } from './evaluate/options.ts';
