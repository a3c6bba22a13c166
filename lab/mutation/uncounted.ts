import { inject } from 'vitest';

/**
 * Instrumented code counts what it reaches, also while a mutant runs and nobody reads the counts. In an object they take most of
 * the time of a hot loop, so they go into an array there.
 */
const scope = globalThis as { __stryker__?: { mutantCoverage?: unknown } };
if ((inject as (key: string) => unknown)('mode') === 'mutant') {
  scope.__stryker__!.mutantCoverage = { static: new Uint32Array(1 << 16), perTest: {} };
}
