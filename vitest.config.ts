import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@rlp/source'] },
  ssr: { resolve: { conditions: ['@rlp/source'] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'examples/*/**/*.test.ts', 'scripts/**/*.test.ts'],
    testTimeout: 30_000,
  },
});
