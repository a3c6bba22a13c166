import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { difference, type Fixture } from './fixture.ts';
import { readFixture } from './read.ts';
import { report, runDirectory, runFixture } from './run.ts';

const tolerance = { abs: 1e-9, rel: 1e-9 };
const root = resolve(import.meta.dirname, '..', '..');
const directory = join(process.env.RLP_SHARED ?? join(root, '..', 'shared'), 'conformance');
const edges = join(import.meta.dirname, 'testdata');

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

  it('goes by the name of the file, or by the one inside when only that is known', () => {
    const named = (file: string, name: string) =>
      readFixture(JSON.stringify({ name, tolerance, cases: [] }), {
        file,
        known: (n) => n.startsWith('gae_'),
      }).fixture.name;
    expect([named('gae_sb3', 'gae_verl'), named('held back', 'gae_verl'), named('new', 'x')]).toEqual([
      'gae_sb3',
      'gae_verl',
      'new',
    ]);
  });

  it('reports what is malformed and keeps the cases that are not', () => {
    const read = (content: unknown) =>
      readFixture(typeof content === 'string' ? content : JSON.stringify(content), {
        file: 'advantages_textpolicy',
        known: () => true,
      });
    expect(read('{"cases": [').problems[0]).toMatch(/^is not JSON: /);
    expect(read([1]).problems).toEqual(['file: Invalid input: expected object, received array']);
    expect(read({ cases: [] }).problems).toEqual([
      'tolerance: Invalid input: expected object, received undefined',
    ]);
    const bad = [null, { ...fixture.cases[0], inputs: 3 }, { id: 'none', fn: 'grpo_center', inputs: {} }];
    const { problems, fixture: kept } = read({
      tolerance,
      cases: [...bad, { ...fixture.cases[0], params: null }],
    });
    expect(problems).toEqual([
      'cases[0].file: Invalid input: expected object, received null',
      'cases[1].inputs: Invalid input: expected record, received number',
      'cases[2].expected: Invalid input: expected a value',
    ]);
    expect(kept.cases).toEqual([fixture.cases[0]]);
  });

  it('fails results that are incomplete, of another length or not a number', () => {
    expect(difference({ a: 1 }, { a: 1, b: 2 }, tolerance)).toBe('.b: got undefined, expected 2');
    expect(difference([1, 2], [1], tolerance)).toBe(': got [1,2], expected 1 elements');
    expect(difference(Number.NaN, 0, tolerance)).toBe(': got NaN, expected 0');
    expect(difference(Float64Array.of(1, 2), [1, 2 + 1e-10], tolerance)).toBeUndefined();
  });

  it('passes the edges that one handler or another once had wrong, with numbers of the projects themselves', async () => {
    for (const { file, passed, failures, unsupported } of await runDirectory(edges)) {
      expect({ file, failures, unsupported, some: passed > 0 }).toEqual({
        file,
        failures: [],
        unsupported: 0,
        some: true,
      });
    }
  });

  it.skipIf(!existsSync(directory))(
    existsSync(directory) ? 'passes every fixture that has an adapter' : `skipped: no directory ${directory}`,
    async () => {
      // `pnpm conformance` and the nightly tests run all cases on both implementations.
      const results = await runDirectory(directory, { onnxEvery: process.env.RLP_SLOW_TESTS ? 1 : 9 });
      expect(
        results.flatMap(({ file, failures }) => failures.map((failure) => `${file} ${failure}`)),
      ).toEqual([]);
      expect(results.reduce((sum, { passed }) => sum + passed, 0)).toBeGreaterThanOrEqual(6000);
    },
    120_000,
  );
});
