import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that wait for browsers, servers and processes. Other checks, which run beside them, use the processor meanwhile. */
const waiting =
  /[\\/](serve|viewer|dashboard|playground|train|hub|http|pool|stream|worlds|gpu|sandbox|stock)[\\/]|browser|devices/;
const slow =
  /[\\/](examples|scripts|lab|backprop|inference|models|onnx|learning|preference|workers|store|hacking)[\\/]/;

/** What waits comes first, then what computes for long; the quick ones fill both workers to the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      waiting.test(moduleId) ? 0 : slow.test(moduleId) ? 1 : 2;
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
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
      './scripts/ended-storages.ts',
      ...(process.env.RLP_SLOW_TESTS ? [] : ['./packages/onnx/scripts/kept-sessions.ts']),
    ],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // The files of a worker share its modules: to load them for each file anew takes longer than most files' tests.
    isolate: false,
    // What `train` prints by default.
    onConsoleLog: (line) => (line.startsWith('iteration ') ? false : undefined),
    // What a test leaves behind dies young. With the default of 16 MB, V8 copies half of it first; 64 MB cost 8 % more processor time.
    // Most code runs a few times only. Node 20 optimises a function after 66 KB of bytecode, which takes 9 % more than after 500 KB.
    execArgv: [
      '--max-semi-space-size=256',
      ...(process.version.startsWith('v20.') ? ['--interrupt-budget=500000'] : []),
    ],
    sequence: { sequencer: SlowFirst },
    // For `pnpm coverage`. What runs in an engine's or a worker's own thread is not counted.
    coverage: {
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/testing/**', '**/testing.ts'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
});
