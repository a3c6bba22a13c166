import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What starts engines and processes takes longest and comes first; the quick ones fill both workers to the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const slow =
      /[\\/](examples|scripts|lab|backprop|inference|models|onnx|learning|workers|sandbox|store|hacking)[\\/]/;
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(slow.test(b.moduleId)) - Number(slow.test(a.moduleId)));
  }
}

export default defineConfig({
  resolve: { conditions: ['@rlp/source'] },
  ssr: { resolve: { conditions: ['@rlp/source'] } },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'examples/**/*.test.ts',
      'scripts/**/*.test.ts',
      'lab/**/*.test.ts',
    ],
    globalSetup: ['./scripts/temporary-folder.ts', './scripts/thread-bundles.ts'],
    // At night every engine compiles its own graphs.
    setupFiles: [
      './scripts/numbers-equal.ts',
      ...(process.env.RLP_SLOW_TESTS ? [] : ['./packages/onnx/scripts/kept-sessions.ts']),
    ],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // The files of a worker share its modules: to load them for each file anew takes longer than most files' tests.
    isolate: false,
    // What `train` prints by default.
    onConsoleLog: (line) => (line.startsWith('iteration ') ? false : undefined),
    // What a test leaves behind dies young; with the default, 16 MB, half of it is copied first.
    execArgv: ['--max-semi-space-size=64'],
    sequence: { sequencer: SlowFirst },
    // For `pnpm coverage`. What runs in an engine's or a worker's own thread is not counted.
    coverage: {
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/testing/**', '**/testing.ts'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
});
