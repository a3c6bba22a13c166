import { afterAll, describe, expect, it } from 'vitest';
import { createSandbox, javascriptRunner, runSandboxed } from '../index.ts';
import { Sandbox } from './sandbox.ts';

const entry = new URL('../sandbox.worker.ts', import.meta.url);
const sandbox = new Sandbox(entry, { timeoutMs: 10_000 });
afterAll(() => sandbox.close());

describe('Sandbox', () => {
  it.each([
    ['(a, b) => a + b', [1, 2], 3],
    ['async ({ text }) => text.length', [{ text: 'é\ud83d\ude00' }], 3],
    ['function f(x) { return [x, null, { y: true }]; }', ['z'], ['z', null, { y: true }]],
    ['export default (x) => x.toUpperCase()', ['a'], 'A'],
    ["(x) => 'export default ' + x", ['a'], 'export default a'],
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

describe('tests apart from a JavaScript program', () => {
  const runner = javascriptRunner(sandbox);
  const judge = async (source: string, test: string, timeoutMs = 10_000) => {
    const program = { language: 'javascript', source, input: '', test };
    return (await runner(program, { timeoutMs, signal: new AbortController().signal })).test;
  };

  it.each([
    ['const f = (n) => n * n', 'assert(f(2) === 4); assert.deepEqual([1, 2].map(f), [1, 4])'],
    [
      'class Dog { constructor(n) { this.n = n } bark() { return this.n + "!" } }',
      'const d = new Dog("a"); assert.equal(d.bark(), "a!"); assert(d instanceof Dog); d.n = "b"; assert.deepEqual(d, new Dog("b")); assert.throws(() => d.nope(), TypeError)',
    ],
    [
      'function sort(a) { a.sort((x, y) => x - y); return a }',
      'const a = [3, 1, 2]; assert(sort(a) === a); assert.deepEqual(a, [1, 2, 3])',
    ],
    [
      'class Bad extends Error {} function f(n) { if (n < 0) throw new Bad("low"); return n }',
      'assert.throws(() => f(-1), Bad); assert.throws(() => f(-1), /low/); assert.equal(f(1), 1)',
    ],
    ['async function f(n) { await null; return n * 2 }', '(async () => { assert.equal(await f(2), 4) })()'],
    [
      'async function f(g) { return await g(3) + 1 }',
      'f(async (x) => x * 2).then((r) => assert.equal(r, 7))',
    ],
    [
      'async function f(n) { await null; return n * 2 }',
      'assert.equal(await f(2), 4); const r = await f(3); assert.equal(r, 6)',
    ],
    [
      'const sleep = (ms) => new Promise((r) => setTimeout(r, ms)); async function f(n) { await sleep(1e6); return n } let n = 0; const g = (call) => setTimeout(call, 100)',
      'assert.equal(await f(2), 2); const seen = []; g(() => seen.push(1)); setTimeout(() => seen.push(0), 50); await new Promise((r) => setTimeout(r, 150)); assert.deepEqual(seen, [0, 1])',
    ],
    ['module.exports = { f: (n) => n + 1 }', 'assert.equal(f(1), 2)'],
    ['const f = (n) => n + 1;\nexport default f;', 'assert.equal(f(1), 2)'],
    ['function f(n) { return n + 1 }\nexport { f, f as default };', 'assert.equal(f(1), 2)'],
    [
      'const f = (n) => n + 1\nexport default f\n;[1].map(f)\nconst g = f\nexport { g }\n(function () {})()',
      'assert.equal(g(1), 2)',
    ],
    [
      'export function* f(n) { for (let k = 0; k < n; k++) yield k }',
      'assert.deepEqual([...f(3)], [0, 1, 2])',
    ],
    [
      'const f = (x) => x',
      'for (const x of [NaN, -0, 2n ** 70n, undefined, null, [undefined], new Map([[1, new Set([2])]]), new Date(5), /a/g, new Uint8Array([1])]) assert.deepEqual(f(x), x); const loop = []; loop.push(loop); assert(f(loop)[0] === f(loop)[0] || true)',
    ],
    [
      'const make = () => ({ n: 0, add() { this.n += 1; return this } })',
      'const c = make(); c.add().add(); assert.equal(c.n, 2); assert.equal(JSON.stringify(c), \'{"n":2}\')',
    ],
    [
      'class Low extends Error { constructor(n) { super("low"); this.at = n } } const f = (n) => { try { throw new Low(n) } catch (cause) { throw new Error("failed", { cause }) } }',
      'try { f(3); assert.fail() } catch (e) { assert.equal(e.cause.at, 3); assert(e.cause instanceof Low) } assert.throws(() => f(1), { message: "failed" })',
    ],
    [
      'class Bank { constructor() { this.b = {}; this.log = []; this.m = new Map() } move(n) { this.b.x -= n; this.log.push(n); return this.m.size } }',
      'const k = new Bank(); k.b.x = 10; k.log.push(7); k.m.set(1, 2); assert.equal(k.move(4), 1); assert.deepEqual(k.b, { x: 6 }); assert.deepEqual(k.log, [7, 4])',
    ],
    [
      'class L extends Array {}',
      'const l = new L(); l.push(1); assert(l instanceof Array); assert.equal(l.length, 1)',
    ],
    [
      'const curry = (g) => (...a) => (a.length >= g.length ? g(...a) : curry(g.bind(null, ...a)))',
      'const add = (a, b, c) => a + b + c; assert.equal(curry(add)(1)(2, 3), 6)',
    ],
    [
      'const find = (t) => /(?<y>\\d+)-/.exec(t); async function* f(n) { yield* [n, n + 1] }',
      'assert.equal(find("a 24-").index, 2); assert.equal(find("24-").groups.y, "24"); const got = []; for await (const x of f(1)) got.push(x); assert.deepEqual(got, [1, 2])',
    ],
    [
      'const box = () => ({ n: 1, get twice() { return 2 * this.n }, set m(x) { if (x < 0) throw new RangeError("low"); this.n = x } })',
      'const b = box(); b.m = 4; assert.equal(b.twice, 8); assert.throws(() => { b.m = -1 }, RangeError); assert.equal(b.n, 4)',
    ],
    [
      'let o = 0; const deep = (n) => { let o = []; for (let k = 0; k < n; k++) o = [o]; return o }',
      'let d = deep(5000), n = 0; while (d.length) { d = d[0]; n++ } assert.equal(n, 5000)',
    ],
  ])('accepts %j', async (source, test) => {
    expect(await judge(source, test)).toBe('passed');
  });

  it.each([
    ...['if (false)', 'while (false)', 'assert = () => true', 'function assert() {}', 'throw 0', '`'],
    'Object.is = () => true; function f(n) { return n }',
    'Object.prototype.valueOf = () => 4; Array.prototype.every = () => true; function f(n) { return {} }',
    'function f() { return { valueOf: () => 4, toString: () => "4", [Symbol.toPrimitive]: () => 4 } }',
    'function f() { return new Proxy(function () {}, { get: () => () => 4, apply: () => 4 }) }',
    'function f() { return new Number(4) }',
    'class A extends Number {}; function f() { return new A(4) }',
    'function f() { return { then: (resolve) => resolve(4) } }',
    'globalThis.scopeOfTests = {}; globalThis.stateOf = () => 4; function f() { return 0 }',
    'function f() { throw { name: "x", message: "y" } }',
    'async function f() { return 4 }',
    'setTimeout = (call) => call(); function f(n) { setInterval(() => 0, 1); return n }',
  ])('rejects %j', async (source) => {
    expect(await judge(source, 'assert(f(2) == 4); assert.equal(f(3), 9)')).toBe('failed');
  });

  it.each([
    ['const f = () => `\nexport default f;\n`', '\nexport default f;\n'],
    [
      'const f = () => `\nexport const a = $' + '{`\nexport { f };\n`}\n`\nexport { f };',
      '\nexport const a = \nexport { f };\n\n',
    ],
    ['export const f = () => `\nexport class A {}\n`\n/*\nexport default f\n*/', '\nexport class A {}\n'],
    ['export default function f() { return "a\\\nexport { f }\\\n" + /[`]/.source }', 'aexport { f }[`]'],
    ['const f = () => "\u2028export { f }"', '\u2028export { f }'],
  ])('keeps lines of texts that look like exports in %j', async (source, text) => {
    expect(await judge(source, `assert.equal(f(), ${JSON.stringify(text)})`)).toBe('passed');
  });

  it('stops a program with more exports than it can read in time', async () => {
    const source = `\`\`${'\nexport { f };'.repeat(20_000)}`;
    expect(await judge(source, '1', 500)).toBe('failed');
  });

  it('reads an export before many spaces in time', async () => {
    const source = `/*\nexport default f${' '.repeat(200_000)}.\n*/ const f = 1`;
    expect(await judge(source, 'assert.equal(f, 1)', 2000)).toBe('passed');
  });

  it('stops programs and tests that do not stop', async () => {
    expect(await judge('for (;;);', '1', 300)).toBe('failed');
    expect(
      await judge('setInterval(() => 0, 1); const f = () => new Promise(() => 0)', 'await f()', 300),
    ).toBe('failed');
    expect(await judge('const f = async () => 3', 'assert.equal(await f(), 4)')).toBe('failed');
    expect(await judge('function f() { for (;;); }', 'try { f() } catch {}', 300)).toBe('failed');
    expect(await judge('const f = () => 1', 'for (;;) f()', 300)).toBe('failed');
    expect(await judge('const f = () => 1', 'assert.equal(f(), 1)')).toBe('passed');
  });
});

describe('results that are too deep', () => {
  it('are failures, never rejections', async () => {
    const nested = (depth: number) =>
      `() => { let o = []; for (let k = 0; k < ${depth}; k++) o = k % 2 ? [o] : { o }; return o; }`;
    expect(await sandbox.call(nested(900), [])).toMatchObject({ kind: 'value' });
    for (const depth of [1001, 3000, 5000]) {
      expect(await sandbox.call(nested(depth), [])).toMatchObject({ kind: 'failure', cause: 'not-json' });
    }
    expect(sandbox.getStatistics().failures['not-json']).toBeGreaterThan(2);
    expect(await sandbox.call(`() => '"[' + '['.repeat(5000)`, [])).toMatchObject({ kind: 'value' });
  });
});
