import type { Trajectory } from '@rlp/core';
import { createSandbox, javascriptRunner } from '@rlp/sandbox';
import { pythonRunner } from '@rlp/sandbox/python';
import { afterAll, describe, expect, it } from 'vitest';
import { answering } from '../../trajectories.fixture.ts';
import { type CodeTest, codeTests } from './code-tests.ts';

const { signal } = new AbortController();
const sandbox = createSandbox({ timeoutMs: 10_000 });
afterAll(() => sandbox.close());

describe('codeTests with the runners of @rlp/sandbox', () => {
  it('grades JavaScript by tests', async () => {
    const reward = codeTests<readonly CodeTest[]>({
      runner: javascriptRunner(sandbox),
      language: 'javascript',
      grading: 'share',
      tests: (metadata) => metadata,
    });
    const tests: CodeTest[] = [
      { kind: 'output', input: '2 3', output: '5' },
      { kind: 'assertion', source: 'assert.equal(add(2, 2), 4)' },
      { kind: 'assertion', source: 'assert.equal(add(2, 2), 5)' },
    ];
    const response =
      '```javascript\nconst add = (a, b) => a + b;\nconst line = readline();\nif (line) console.log(add(...line.split(" ").map(Number)));\n```';
    const trajectory: Trajectory<readonly CodeTest[]> = {
      ...{ id: '0', task: { id: 't', prompt: '', metadata: tests }, steps: [], messages: [], response },
      ...{ status: 'completed', policyVersion: 0 },
    };
    expect(await reward(trajectory, { signal })).toBeCloseTo(2 / 3);
  });

  it('grades Python by tests', { timeout: 120_000 }, async () => {
    await using runner = pythonRunner();
    const reward = codeTests({
      runner,
      language: 'python',
      tests: (metadata: { tests: readonly (readonly [string, string])[] }) =>
        metadata.tests.map(([input, output]) => ({ kind: 'output', input, output })),
      grading: 'share',
    });
    const response = '```python\nn = int(input())\nprint(n * n if n < 3 else 0)\n```';
    const tests = [
      ['1', '1'],
      ['2', '4'],
      ['3', '9'],
      ['4', '0'],
    ] as const;
    expect(await reward(answering(response, { tests }), { signal })).toBe(0.75);
    const asserting = codeTests({
      runner,
      language: 'python',
      tests: () => [{ kind: 'assertion', source: 'assert f(2) == 4' }],
    });
    expect(await asserting(answering('```python\ndef f(n): return n * n\n```', {}), { signal })).toBe(1);
    for (const program of [
      'def f(n): return n',
      'import sys; sys.exit(0)',
      'raise SystemExit',
      'import os; os._exit(0)',
      'class A:\n  def __eq__(s, o): return True\ndef f(n): return A()',
    ]) {
      const graded = await asserting(answering(`\`\`\`python\n${program}\n\`\`\``, {}), { signal });
      expect([program, graded]).toEqual([program, 0]);
    }
  });

  it('refuses a runner that is none, and a sandbox that is none, before a run', () => {
    const options = { language: 'javascript', tests: () => [] };
    expect(() => codeTests(options as never)).toThrow('runner: must be a function that runs programs');
    expect(() => javascriptRunner({ sandbox } as never)).toThrow(
      'expected a sandbox, got an object with sandbox',
    );
  });

  it('gives JavaScript that avoids its tests nothing', async () => {
    const reward = codeTests({
      runner: javascriptRunner(sandbox),
      language: 'javascript',
      tests: () => [{ kind: 'assertion', source: 'assert(f(2) === 4)' }],
    });
    const score = (program: string) => reward(answering(`\`\`\`js\n${program}\n\`\`\``, {}), { signal });
    expect(await score('function f(n) { return n * n }')).toBe(1);
    for (const program of [
      ...['function f(n) { return n }', 'if (false)', 'while (false)', 'assert = () => true'],
      ...['function assert() {}', 'Object.is = () => true', 'assert.equal = () => {}', 'throw 0'],
    ]) {
      expect([program, await score(program)]).toEqual([program, 0]);
    }
  });
});
