/** Runs Python programs with limits, inside WebAssembly by default. Needs Node. */
export type { PythonRunnerOptions } from './python/options.ts';
export { type PythonRunner, type PythonStatistics, pythonRunner } from './python/python-runner.ts';
