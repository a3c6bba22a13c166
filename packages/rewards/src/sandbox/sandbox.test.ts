import type { Trajectory } from '@rlp/core';
import { afterAll, describe, expect, it } from 'vitest';
import { built } from '../built-thread.fixture.ts';
import { createSandbox, javascriptRunner, runSandboxed, sandboxedRewards } from '../sandbox.ts';
import { type CodeTest, codeTests } from '../stock/code-tests.ts';
import { Sandbox } from './sandbox.ts';

const entry = await built(new URL('../sandbox.worker.ts', import.meta.url));
const programs = { entry, sourceBootstrap: entry };
const sandbox = new Sandbox(programs, { timeoutMs: 10_000 });
afterAll(() => sandbox.close());

describe('Sandbox', () => {
  it.each([
    ['(a, b) => a + b', [1, 2], 3],
    ['async ({ text }) => text.length', [{ text: 'é\ud83d\ude00' }], 3],
    ['function f(x) { return [x, null, { y: true }]; }', ['z'], ['z', null, { y: true }]],
    ['export default (x) => x.toUpperCase()', ['a'], 'A'],
    ['const n = await Promise.resolve(2);\nexport default async (x) => x * n', [4], 8],
    ['() => ({ then: (resolve) => resolve(5) })', [], 5],
    ['(...all) => all.length // a comment', [1, 2, 3], 3],
  ])('calls %s', async (code, args, value) => {
    expect(await sandbox.call(code, args)).toEqual({ kind: 'value', value, printed: '' });
  });

  it('keeps what is printed, and says what was thrown', async () => {
    const code = '(x) => { console.log("x is", x, [1]); console.error("!"); throw new TypeError("no"); }';
    expect(await sandbox.call(code, [2])).toEqual({
      kind: 'failure',
      cause: 'threw',
      message: 'TypeError: no',
      printed: 'x is 2 [1]\n!\n',
    });
  });

  it('gives every call a world of its own, whether the engine is used again or not', async () => {
    const code = '() => { globalThis.count = (globalThis.count ?? 0) + 1; return count; }';
    const fresh = new Sandbox(programs, { reuse: 'nothing', timeoutMs: 10_000 });
    const outcomes = await Promise.all([
      ...[sandbox, fresh].flatMap((one) => [one.call(code, []), one.call(code, [])]),
      ...(await runSandboxed(code, [[], []], { timeoutMs: 10_000 })),
    ]);
    await fresh.close();
    expect(outcomes.map((outcome) => outcome.kind === 'value' && outcome.value)).toEqual(Array(6).fill(1));
  });

  it('ends with the signal, whatever the code does', async () => {
    const signal = AbortSignal.timeout(50);
    await expect(sandbox.call('() => { while (1); }', [], { signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    expect(await sandbox.call('() => 1', [])).toMatchObject({ value: 1 });
  });

  it('refuses what is no JSON, what does not fit, bad options, and to work after it was closed', async () => {
    await expect(sandbox.call('() => 1', [1n])).rejects.toThrow('expected arguments that are JSON data');
    const outcome = await sandbox.call('() => 1', ['x'.repeat(5_000_000)]);
    expect(outcome).toMatchObject({ kind: 'failure', cause: 'out-of-memory' });
    for (const timeoutMs of [Number.NaN, 0, 1e12]) {
      await expect(sandbox.call('() => 1', [], { timeoutMs })).rejects.toThrow('Sandbox: timeoutMs');
    }
    expect(() => createSandbox({ threads: 0, memoryBytes: 1 })).toThrow(/threads[\s\S]*memoryBytes/);
    const closed = createSandbox();
    await closed.close();
    await expect(closed.call('() => 1', [])).rejects.toThrow('got a closed one');
  });
});

describe('sandboxedRewards', () => {
  const trajectory = (response: string, member: number): Trajectory<{ answer: string }> => ({
    id: `g/${member}`,
    task: { id: 't', prompt: 'q', metadata: { answer: '4' } },
    steps: [
      {
        ...{ promptTokens: [1], tokens: [2], behaviorLogprobs: [-1], text: response, stopReason: 'stop' },
      },
    ],
    messages: [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: response },
    ],
    response,
    status: response === 'gone' ? 'aborted' : 'completed',
    policyVersion: 0,
  });
  const group = (responses: readonly string[]) => {
    const trajectories = responses.map(trajectory);
    return { id: 'g', task: trajectories[0]!.task, trajectories };
  };

  it('judges one conversation at a time, with its steps', async () => {
    const rewards = sandboxedRewards<{ answer: string }>({
      sandbox,
      groundTruth: ({ answer }) => answer,
      parameters: { bonus: 0.5 },
      code: `(messages, groundTruth, { bonus }) => {
        const said = messages.at(-1).content;
        if (said === 'crash') throw new Error('no');
        if (said === 'text') return 'good';
        if (said === 'unsure') return null;
        return { score: said === groundTruth ? 1 : 0, stepOutputs: [{ stepIndex: 0, baseReward: bonus, metrics: {} }] };
      }`,
    });
    const scored = await rewards.computeRewards(group(['4', '5', 'crash', 'text', 'unsure', 'gone']));
    expect(scored.map(({ reward }) => reward)).toEqual([1, 0, null, null, null, null]);
    expect(scored[0]?.trajectory.steps[0]?.reward).toBe(0.5);
    expect(rewards.getStatistics()).toMatchObject({ calls: 5, failures: { threw: 1, judgement: 1 } });
  });

  it('judges a group at once', async () => {
    const rewards = sandboxedRewards<{ answer: string }>({
      sandbox,
      mode: 'batch',
      code: `(conversations, metadata) => {
        const lengths = conversations.map((messages) => messages.at(-1).content.length);
        return lengths.map((length, k) => length / Math.max(...lengths) + Number(metadata[k].answer));
      }`,
    });
    const scored = await rewards.computeRewards(group(['a', 'gone', 'aaaa']));
    expect(scored.map(({ reward }) => reward)).toEqual([4.25, null, 5]);
    const short = sandboxedRewards({ sandbox, mode: 'batch', code: '() => [1]' });
    expect((await short.computeRewards(group(['a', 'b']))).map(({ reward }) => reward)).toEqual([null, null]);
    expect(short.getStatistics().lastFailure).toBe('expected 2 judgements, got 1');
  });

  it.each(['pointwise', 'batch'] as const)(
    'leaves out what it cannot tell the code about, %s',
    async (mode) => {
      const rewards = sandboxedRewards<{ answer: string }>({
        sandbox,
        mode,
        groundTruth: ({ answer }) => {
          if (answer === 'throw') throw new Error('no truth');
          return answer === 'bigint' ? 1n : answer;
        },
        code: mode === 'batch' ? '(all) => all.map(() => 1)' : '() => 1',
      });
      const { trajectories, ...rest } = group(['a', 'b', 'c']);
      const answers = ['throw', 'x', 'bigint'];
      const mixed = trajectories.map((one, k) => ({
        ...one,
        task: { ...one.task, metadata: { answer: answers[k]! } },
      }));
      const scored = await rewards.computeRewards({ ...rest, trajectories: mixed });
      expect(scored.map(({ reward }) => reward)).toEqual([null, 1, null]);
      expect(rewards.getStatistics()).toMatchObject({ calls: 1, failures: { 'ground-truth': 2 } });
    },
  );

  it('refuses parameters that are no JSON', () => {
    const options = { sandbox, code: '() => 1', parameters: { bonus: 1n } };
    expect(() => sandboxedRewards(options)).toThrow('parameters: must be JSON data');
  });
});

describe('javascriptRunner', () => {
  const runner = javascriptRunner(sandbox);
  const { signal } = new AbortController();
  const run = (source: string, input = '', timeoutMs = 10_000) =>
    runner({ language: 'javascript', source, input }, { timeoutMs, signal });

  it.each([
    [
      'console.log(readline().split(" ").map(Number).reduce((a, b) => a + b)); print(readline(), readline())',
      '1 2\n3',
      '3\n3 null\n',
    ],
    ['const fs = require("fs"); console.log(fs.readFileSync(0, "utf8").trim().length)', 'abc\n', '3\n'],
    [
      'let t = ""; process.stdin.on("data", (d) => { t += d; }); process.stdin.on("end", () => console.log(t.length));',
      'abcd',
      '4\n',
    ],
    ['process.stdout.write("a"); process.stdout.write(String(7))', '', 'a7'],
    ['(async () => { await null; console.log("late"); })()', '', 'late\n'],
    [
      'assert(true); assert.equal(1, 1); require("node:assert").deepStrictEqual([1, { a: 2 }], [1, { a: 2 }]); x = 5; console.log(x)',
      '',
      '5\n',
    ],
  ])('runs %s', async (source, input, stdout) => {
    expect(await run(source, input)).toEqual({ status: 'exited', exitCode: 0, stdout, stderr: '' });
  });

  it.each([
    ['assert.equal(1, 2)', { status: 'exited', exitCode: 1, stderr: expect.stringContaining('1 is not 2') }],
    ['}', { status: 'exited', exitCode: 1, stderr: expect.stringContaining('SyntaxError') }],
    ['(async () => { throw new Error("late"); })()', { status: 'exited', exitCode: 1 }],
    ['new Promise(() => {})', { status: 'exited', exitCode: 13 }],
    ['require("child_process")', { status: 'exited', exitCode: 1 }],
    ['require("fs").readFileSync("/etc/passwd")', { status: 'exited', exitCode: 1 }],
    ['process.exit(0)', { status: 'exited', exitCode: 1 }],
    ['for (;;) console.log("x".repeat(1e5))', { status: 'output-too-long', exitCode: null }],
    ['const a = []; for (;;) a.push(new Uint8Array(1e6))', { status: 'out-of-memory', exitCode: null }],
  ])('fails %s', async (source, outcome) => {
    expect(await run(source)).toMatchObject(outcome);
  });

  it('stops what does not stop, and refuses other languages', async () => {
    expect(await run('while (1);', '', 50)).toMatchObject({ status: 'timed-out', exitCode: null });
    const python = runner({ language: 'python', source: '', input: '' }, { timeoutMs: 10, signal });
    await expect(python).rejects.toThrow('expected JavaScript, got "python"');
  });

  it('runs the tests of codeTests', async () => {
    const reward = codeTests<readonly CodeTest[]>({
      runner,
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
});
