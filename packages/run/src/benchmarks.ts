/** Benchmarks read from their published files, with metrics that equal those of lm_eval. */
export type {
  AnswerBenchmark,
  Benchmark,
  BenchmarkOptions,
  BenchmarkRow,
  ChoiceBenchmark,
  ChoiceMetadata,
} from './benchmarks/benchmark.ts';
export { type EvaluateBenchmarkOptions, evaluateBenchmark } from './benchmarks/evaluate-benchmark.ts';
export {
  type BenchmarkName,
  benchmarkNames,
  benchmarkOf,
  readBenchmark,
} from './benchmarks/read-benchmark.ts';
