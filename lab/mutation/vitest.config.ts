import { defineConfig } from 'vitest/config';

import config from '../../vitest.config.ts';

/** The tests of one package, the one whose source `lab/mutation.ts` mutates. Stryker runs them in threads, which refuse V8's flags. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: [`packages/${process.env.MUTATION_PACKAGE}/src/**/*.test.ts`],
    execArgv: [],
  },
});
