/** Plugins of Stryker, which loads them in processes without TypeScript. */
import { createHash } from 'node:crypto';
import { strykerPlugins as vitestPlugins } from '@stryker-mutator/vitest-runner';

/**
 * Draws `count` of `ids`, the same for the same seed. A mutant keeps its place in the order when others come or go.
 *
 * @param {readonly string[]} ids
 * @param {{ readonly count: number, readonly seed: string }} sample
 */
function draw(ids, { count, seed }) {
  const rank = (id) => createHash('sha256').update(`${seed}\0${id}`).digest('hex');
  const ranked = ids.map((id) => [rank(id), id]).sort(([a], [b]) => (a < b ? -1 : 1));
  return new Set(ranked.slice(0, count).map(([, id]) => id));
}

/** What a mutant is, whatever its number. */
const identify = ({ fileName, location: { start, end }, replacement }) =>
  [
    fileName.slice(fileName.lastIndexOf('packages')),
    start.line,
    start.column,
    end.line,
    end.column,
    replacement,
  ].join(':');

/**
 * Lets a random sample of the mutants through that tests reach. Those that no test reaches cost nothing and all pass.
 * Without `MUTATION_SAMPLE` everything passes.
 */
function createSampleChecker() {
  const { MUTATION_SAMPLE: count, MUTATION_SEED: seed = '1' } = process.env;
  return {
    init: async () => {},
    async check(mutants) {
      const reached = mutants.filter(({ coveredBy }) => coveredBy?.length !== 0);
      const drawn = draw(reached.map(identify), { count: Number(count || Infinity), seed });
      const passes = (mutant) => !reached.includes(mutant) || drawn.has(identify(mutant));
      return Object.fromEntries(
        mutants.map((mutant) => [
          mutant.id,
          passes(mutant) ? { status: 'passed' } : { status: 'compileError', reason: 'not drawn' },
        ]),
      );
    },
    /** One group: a sample is drawn from all mutants. */
    group: async (mutants) => [mutants.map(({ id }) => id)],
  };
}

/** `TestStatus.Failed` of Stryker. */
const failed = 1;

/**
 * Stryker's runner for Vitest, which sees tests only. A mutant that breaks a file while its tests are collected leaves no test
 * that could fail, and would survive. Here such a file counts as a failed test.
 */
function createRunner(injector) {
  const runner = vitestPlugins[0].factory(injector);
  const run = runner.run.bind(runner);
  runner.run = async (options) => {
    const result = await run(options);
    if (result.status !== 'complete') return result;
    if (result.tests.some(({ status }) => status === failed)) return result;
    const broken = runner.ctx.state.getFiles().filter(({ result: outcome }) => outcome?.state === 'fail');
    const failures = broken.map(({ name, result: outcome }) => ({
      id: `${name}#`,
      name: `${name} loads`,
      status: failed,
      timeSpentMs: 0,
      failureMessage: outcome.errors?.[0]?.message ?? 'the file failed while its tests were collected',
    }));
    return { ...result, tests: [...result.tests, ...failures] };
  };
  return runner;
}
createRunner.inject = ['$injector'];

export const strykerPlugins = [
  { kind: 'Checker', name: 'sample', factory: createSampleChecker },
  { kind: 'TestRunner', name: 'vitest-with-files', factory: createRunner },
];
