import { defineConfig } from 'vitest/config';

import config from '../../vitest.config.ts';
import { QuickFirst } from './quick-first.ts';

/**
 * The tests of one package, the one whose source `lab/mutation.ts` mutates. Stryker runs them in threads, which refuse V8's flags.
 *
 * Left out are tests that take a minute, need a GPU or measure timers: a mutant that only they find counts as survivor.
 */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: [`packages/${process.env.MUTATION_PACKAGE}/src/**/*.test.ts`],
    exclude: [
      ...['**/learning/{learning,transformer}.test.ts', '**/{webgpu,event-loop}.test.ts'],
      // Loads the package in a process of its own, where Stryker sees nothing and nobody loads TypeScript.
      '**/inference/src/devices.test.ts',
    ],
    sequence: { sequencer: QuickFirst },
    setupFiles: ['./lab/mutation/uncounted.ts', ...[config.test?.setupFiles ?? []].flat()],
    execArgv: [],
    // Mutated code is slower, and Stryker has its own limits.
    testTimeout: 300_000,
  },
});
