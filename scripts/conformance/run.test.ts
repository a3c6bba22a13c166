import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { difference, type Fixture } from './fixture.ts';
import { report, runDirectory, runFixture } from './run.ts';

const tolerance = { abs: 1e-9, rel: 1e-9 };
const root = resolve(import.meta.dirname, '..', '..');
const directory = join(process.env.RLP_SHARED ?? join(root, '..', 'shared'), 'conformance');

const fixture: Fixture = {
  name: 'advantages_textpolicy',
  tolerance,
  cases: [
    {
      id: 'right',
      fn: 'grpo_center',
      inputs: { rewards: [1, 3] },
      params: {},
      expected: { advantages: [-1, 1] },
    },
    {
      id: 'wrong',
      fn: 'grpo_center',
      inputs: { rewards: [1, 3] },
      params: {},
      expected: { advantages: [-1, 2] },
    },
    { id: 'throws', fn: 'grpo_center', inputs: {}, params: {}, expected: { advantages: [] } },
    { id: 'unknown', fn: 'constructor', inputs: {}, params: {}, expected: {} },
  ],
};

describe('conformance', () => {
  it('counts passed, failed and unsupported cases apart', async () => {
    const result = await runFixture(fixture);
    expect(result).toMatchObject({ passed: 1, unsupported: 1 });
    expect(result.failures[0]).toBe('wrong.advantages[1]: got 1, expected 2');
    expect(result.failures[1]).toMatch(/^throws: threw /);
    expect(report([result]).at(0)).toBe('advantages_textpolicy.json: 1 passed, 2 failed, 1 unsupported');
    expect(report([result]).at(-1)).toBe('1 passed, 2 failed');
  });

  it('fails results that are incomplete, of another length or not a number', () => {
    expect(difference({ a: 1 }, { a: 1, b: 2 }, tolerance)).toBe('.b: got undefined, expected 2');
    expect(difference([1, 2], [1], tolerance)).toBe(': got [1,2], expected 1 elements');
    expect(difference(Number.NaN, 0, tolerance)).toBe(': got NaN, expected 0');
    expect(difference(Float64Array.of(1, 2), [1, 2 + 1e-10], tolerance)).toBeUndefined();
  });

  it.skipIf(!existsSync(directory))(
    existsSync(directory) ? 'passes every fixture that has an adapter' : `skipped: no directory ${directory}`,
    async () => {
      const results = await runDirectory(directory);
      expect(
        results.flatMap(({ file, failures }) => failures.map((failure) => `${file} ${failure}`)),
      ).toEqual([]);
      expect(results.reduce((sum, { passed }) => sum + passed, 0)).toBeGreaterThanOrEqual(6000);
    },
    120_000,
  );
});
