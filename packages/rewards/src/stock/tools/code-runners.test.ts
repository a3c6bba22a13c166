import { execFileSync } from 'node:child_process';
import type { Trajectory } from '@rlp/core';
import { createSandbox, javascriptRunner } from '@rlp/sandbox';
import { pythonRunner } from '@rlp/sandbox/python';
import { afterAll, describe, expect, it } from 'vitest';
import { answering } from '../../trajectories.fixture.ts';
import { type CodeTest, codeTests } from './code-tests.ts';

const { signal } = new AbortController();
const sandbox = createSandbox({ timeoutMs: 10_000 });
afterAll(() => sandbox.close());

function missingPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    console.log('left out: `python3 --version` does not run here');
    return true;
  }
}

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

  it.skipIf(missingPython())('grades Python by tests', async () => {
    const runner = pythonRunner();
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
    expect(await asserting(answering('```python\ndef f(n): return n\n```', {}), { signal })).toBe(0);
  });
});
