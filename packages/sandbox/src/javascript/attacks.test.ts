import { afterAll, describe, expect, it } from 'vitest';
import type { SandboxFailureCause } from '../index.ts';
import { Sandbox } from './sandbox.ts';

// Threads that do not stop are killed, and another one starts.
const entry = new URL('../sandbox.worker.ts', import.meta.url);

/** Each attack with its outcome. `value` means that it is contained, because its result is of no use. */
const attacks: readonly (readonly [
  name: string,
  code: string,
  ending: SandboxFailureCause | { readonly value: unknown },
])[] = [
  ['an endless loop', '() => { while (1); }', 'timed-out'],
  [
    'an endless loop that catches everything',
    '() => { for (;;) try { while (1); } catch {} finally { continue; } }',
    'timed-out',
  ],
  ['an endless loop while it is loaded', '(() => { while (1); })()', 'timed-out'],
  ['an endless loop in a getter of the result', '() => ({ get score() { while (1); } })', 'timed-out'],
  ['an endless loop in toJSON', '() => ({ toJSON() { while (1); } })', 'timed-out'],
  ['an endless loop in then', '() => ({ then() { while (1); } })', 'timed-out'],
  ['an endless loop in a getter of then', '() => ({ get then() { while (1); } })', 'timed-out'],
  [
    'an endless loop in a getter of the error',
    '() => { throw { get message() { while (1); } }; }',
    'timed-out',
  ],
  [
    'an endless loop in toString of the error',
    '() => { throw { name: { toString() { while (1); } } }; }',
    'timed-out',
  ],
  ['an endless chain of promises', 'async () => { for (;;) await 0; }', 'timed-out'],
  [
    'an endless chain of jobs behind a result',
    '() => { const f = () => Promise.resolve().then(f); f(); return 1; }',
    'timed-out',
  ],
  ['an endless generator', '() => [...(function* () { for (;;) yield; })()].length', 'out-of-memory'],
  ['an endless Proxy', '() => new Proxy({}, { ownKeys() { for (;;); } })', 'timed-out'],
  ['an endless native loop', '() => new Array(2 ** 32 - 2).indexOf(1)', 'timed-out'],
  [
    'an endless native search',
    '() => { const x = "x".repeat(4e6); for (;;) x.lastIndexOf("y"); }',
    'timed-out',
  ],
  ['a regular expression that backtracks', '() => /^(a+)+$/.test("a".repeat(50) + "b")', 'timed-out'],
  [
    'a memory bomb of arrays',
    '() => { const a = []; for (;;) a.push(new Array(1000).fill(1)); }',
    'out-of-memory',
  ],
  [
    'a memory bomb of buffers',
    '() => { const a = []; for (;;) a.push(new Uint8Array(1e6)); }',
    'out-of-memory',
  ],
  ['a memory bomb at once', '() => new ArrayBuffer(2e9).byteLength', 'out-of-memory'],
  [
    'a memory bomb of closures',
    '() => { let f = () => 0; for (;;) { const g = f; f = () => g; } }',
    'out-of-memory',
  ],
  ['a string bomb', '() => { let s = "x"; for (;;) s += s; }', 'threw'],
  [
    'a bomb of distinct strings',
    '() => { const a = {}; for (let k = 0; ; k++) a["k".repeat(1e4) + k] = k; }',
    'out-of-memory',
  ],
  ['a bomb of big integers', '() => { let b = 3n ** 100000n; for (;;) b *= b; }', 'threw'],
  ['deep recursion', '() => { const f = () => f() + 1; return f(); }', 'stack-overflow'],
  ['a deep result', '() => { let o = {}; for (let k = 0; k < 1e5; k++) o = { o }; return o; }', 'timed-out'],
  ['deep recursion in the JSON parser', '() => JSON.parse("[".repeat(1e6))', 'stack-overflow'],
  ['deep recursion in the parser', '() => eval("(".repeat(1e5))', 'stack-overflow'],
  [
    'deep recursion in a regular expression',
    '() => new RegExp("(".repeat(1e5) + ")".repeat(1e5)).test("")',
    'threw',
  ],
  ['huge output', '() => "x".repeat(2e6)', 'output-too-long'],
  ['huge printing', '() => { for (;;) console.log("x".repeat(1e5)); }', 'output-too-long'],
  ['a promise that never settles', '() => new Promise(() => {})', 'unsettled'],
  ['a then that never answers', '() => ({ then() {} })', 'unsettled'],
  ['a module that waits for ever', 'await new Promise(() => {}); export default () => 1', 'unsettled'],
  ['a getter that throws', '() => ({ get score() { throw new Error("no"); } })', 'not-json'],
  ['a Proxy that throws', '() => new Proxy({}, { get() { throw null; } })', 'threw'],
  ['a result that is no JSON', '() => () => 1', 'not-json'],
  ['a result that is a big integer', '() => 1n', 'not-json'],
  ['a result that contains itself', '() => { const a = []; a.push(a); return a; }', 'not-json'],
  ['throwing null', '() => { throw null; }', 'threw'],
  ['throwing undefined', '() => { throw undefined; }', 'threw'],
  ['throwing a symbol', '() => { throw Symbol("x"); }', 'threw'],
  ['throwing an object without a prototype', '() => { throw Object.create(null); }', 'threw'],
  ['throwing a Proxy', '() => { throw new Proxy(new Error(), { get() { throw 1; } }); }', 'threw'],
  ['throwing a function', '() => { throw () => {}; }', 'threw'],
  ['a rejection with a thenable', 'async () => { throw { then() { while (1); } }; }', 'threw'],
  ['no code', '', 'syntax'],
  ['no function', '7', 'not-a-function'],
  ['a closing bracket', '() => 1) ; (() => 2', { value: 2 }],
  ['import()', 'async () => import("node:fs")', 'threw'],
  ['an import', 'import fs from "node:fs"; export default () => 1', 'threw'],
  [
    'a look around',
    `() => ['process', 'require', 'fetch', 'module', 'global', 'Deno', 'Bun', 'WebAssembly', 'XMLHttpRequest', 'WebSocket',
      'setTimeout', 'setInterval', 'queueMicrotask', 'SharedArrayBuffer', 'Atomics', 'Worker', 'importScripts', 'navigator', 'window',
      'self', 'std', 'os', 'print', 'scriptArgs', 'bjson', 'gc'].filter((name) => name in globalThis)`,
    { value: [] },
  ],
  [
    'constructor.constructor',
    '() => (() => {}).constructor.constructor("return typeof process")()',
    { value: 'undefined' },
  ],
  [
    'the constructor of the arguments',
    '(a) => a.constructor.constructor("return typeof process + typeof require")()',
    { value: 'undefinedundefined' },
  ],
  [
    'the constructor of console',
    '() => console.log.constructor("return typeof process")()',
    { value: 'undefined' },
  ],
  [
    'the stack of an error',
    '() => { Error.prepareStackTrace = (_, s) => s; const { stack } = new Error(); return typeof stack === "string" && !stack.includes("/") }',
    { value: true },
  ],
  [
    'callers',
    '() => { try { return typeof (function f() { return f.caller; })(); } catch { return "hidden" } }',
    { value: 'hidden' },
  ],
  [
    'pollution of its prototypes',
    '() => { Object.prototype.polluted = 1; Array.prototype.map = () => 1; return {}; }',
    { value: {} },
  ],
  [
    'a prototype in the result',
    '() => JSON.parse(\'{"a": {"__proto__": {"polluted": 1}, "constructor": 1}}\')',
    { value: { a: { constructor: 1 } } },
  ],
  [
    'other JSON',
    '() => { JSON.stringify = () => "7"; JSON.parse = () => 8; Promise.prototype.then = () => 9; return "mine"; }',
    { value: 'mine' },
  ],
  [
    'another Promise',
    '() => { Object.defineProperty(Promise.prototype, "constructor", { get() { throw 1; } }); return 1; }',
    'threw',
  ],
  [
    'a species of Promise',
    '() => { Object.defineProperty(Promise, Symbol.species, { value: function (f) { f(() => {}, () => {}); } }); return 1; }',
    'not-json',
  ],
  [
    'an Error whose instances are odd',
    '() => { Symbol.hasInstance; Error = 7; String = null; Reflect.apply = null; throw { name: 1, message: 2 }; }',
    'threw',
  ],
  [
    'a score that changes while it is read',
    '() => { let n = 0; return { get score() { return n++; } }; }',
    { value: { score: 0 } },
  ],
];

describe('runSandboxed contains', () => {
  const limits = { timeoutMs: 10_000, memoryBytes: 24 * 1_048_576 };
  const sandbox = new Sandbox(entry, limits);
  afterAll(() => sandbox.close());

  it.each(attacks)('%s', async (_, code, ending) => {
    const before = Object.getOwnPropertyNames(Object.prototype).length;
    const timeoutMs = ending === 'timed-out' ? 40 : 10_000;
    const outcome = await sandbox.call(code, [{ answer: 1 }], { timeoutMs });
    if (typeof ending === 'string') expect(outcome).toMatchObject({ kind: 'failure', cause: ending });
    else expect(outcome).toMatchObject({ kind: 'value', value: ending.value });
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before);
    // The next call works as usual.
    const next = await sandbox.call('(a) => [a.answer, typeof polluted, [1].map((x) => x + 1)]', [
      { answer: 1 },
    ]);
    expect(next).toEqual({ kind: 'value', value: [1, 'undefined', [2]], printed: '' });
  });

  it('counts all of it', () => {
    const { calls, failures } = sandbox.getStatistics();
    expect(calls).toBe(2 * attacks.length);
    const count = (cause: SandboxFailureCause) => attacks.filter(([, , ending]) => ending === cause).length;
    expect(failures['timed-out']).toBe(count('timed-out'));
    expect(failures['out-of-memory']).toBe(count('out-of-memory'));
    expect(failures.crashed).toBeUndefined();
  });
});
