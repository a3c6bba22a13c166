import { afterAll, describe, expect, it } from 'vitest';
import { built } from '../built-thread.fixture.ts';
import { createSandbox, javascriptRunner, runSandboxed } from '../index.ts';
import { Sandbox } from './sandbox.ts';

const entry = await built(new URL('../sandbox.worker.ts', import.meta.url));
const sandbox = new Sandbox(entry, { timeoutMs: 10_000 });
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
    const fresh = new Sandbox(entry, { reuse: 'nothing', timeoutMs: 10_000 });
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
});
