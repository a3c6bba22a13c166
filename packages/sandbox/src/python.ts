/**
 * Runs Python programs with limits. Needs Node and Python. See {@link pythonRunner} for what the limits do
 * not prevent.
 */
export type { PythonRunnerOptions } from './python/options.ts';
export { pythonRunner } from './python/python-runner.ts';
