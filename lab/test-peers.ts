/**
 * `pnpm test:peers`: contracts and short trainings against servers that somebody else started.
 *
 * Reads RLP_VLLM_URL, RLP_VLLM_MODEL, RLP_TINKER_URL and RLP_TINKER_MODEL. A server without an address is skipped, which is said. The last line is
 * `N passed, M failed`.
 */
import { startVitest } from 'vitest/node';

const vitest = await startVitest('test', [], {
  config: 'lab/peers/vitest.config.ts',
  watch: false,
  reporters: ['verbose'],
});
const cases = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
const count = (state: 'passed' | 'failed') => cases.filter((one) => one.result().state === state).length;
const broken = vitest.state.getTestModules().filter((module) => module.errors().length > 0).length;
await vitest.close();
const failed = count('failed') + broken;
process.exitCode = failed > 0 ? 1 : 0;
console.log(`${count('passed')} passed, ${failed} failed`);
