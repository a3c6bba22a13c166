/** Python programs, run with limits. Needs Node and Python; says itself what it does not protect from. */
export type { PythonRunnerOptions } from './python/options.ts';
export { pythonRunner } from './python/python-runner.ts';
