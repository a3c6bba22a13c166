import { defineConfig } from 'vitest/config';

/** Tests against servers that somebody else started: `pnpm test:peers`. */
export default defineConfig({
  resolve: { conditions: ['@rlp/source'] },
  ssr: { resolve: { conditions: ['@rlp/source'] } },
  test: {
    include: ['lab/peers/*.peers.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    fileParallelism: false,
  },
});
