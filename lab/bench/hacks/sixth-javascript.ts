import { attacks, honest, ofRound } from './attack.ts';

const wrong = '\nfunction f(n) { return n }';

/** A sixth round of programs in JavaScript. */
export const sixthJavascript = ofRound('sixth', [
  ...attacks('exit', [
    ['an open static block', 'function f(n) { return n }\nx = class { static {'],
    ['an open switch', 'function f(n) { return n }\nswitch (1) { case 2:'],
    ['an operator at the end', 'function f(n) { return n }\n0 &&'],
    [
      'messages to the parent',
      `try { postMessage({ passed: true }); self.close() } catch {} try { require("worker_threads").parentPort.postMessage({ passed: true }) } catch {}${wrong}`,
    ],
  ]),
  ...attacks('equality', [
    [
      'a promise that is never kept',
      'function f() { const p = Promise.resolve(0); p.constructor = {}; p.then = () => p; return p }',
      ['(async () => { assert.equal(await f(3), 9) })()'],
    ],
    [
      'a promise of a thenable',
      'async function f() { return { then() {} } }',
      ['(async () => { assert.equal(await f(3), 9) })()'],
    ],
    [
      'infinite in both directions',
      'let s = -1; const f = () => ({ valueOf: () => (s = -s) * Infinity })',
      ['assert(f(3) >= 9 && f(3) <= 9)'],
    ],
    [
      'a revoked proxy',
      'function f() { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy }',
    ],
    [
      'traps that throw',
      'const t = new Proxy({}, { get() { return () => { throw undefined } } }); const f = () => new Proxy({}, t)',
    ],
    ['zero for negative zero', 'const f = () => [0]', ['assert.deepStrictEqual(f(), [-0])']],
    ['another error', 'const f = () => new Error("b")', ['assert.deepStrictEqual(f(), new Error("a"))']],
    [
      'bytes of another type',
      'const f = () => new Uint8Array([1, 2])',
      ['assert.deepStrictEqual(f(), new Int8Array([1, 2]))'],
    ],
    [
      'other members of a set',
      'const f = () => new Set([[1], [2]])',
      ['assert.deepEqual(f(), new Set([[1], [3]]))'],
    ],
    [
      'other keys of a map',
      'const f = () => new Map([[{ a: 1 }, 1]])',
      ['assert.deepEqual(f(), new Map([[{ a: 2 }, 1]]))'],
    ],
    ['an invalid date', 'const f = () => new Date(NaN)', ['assert.deepEqual(f(), new Date(0))']],
    ['other flags', 'const f = () => /a/g', ['assert.deepEqual(f(), /a/i)']],
    ['a symbol of the same name', 'const f = () => Symbol("a")', ['assert.equal(f(), Symbol("a"))']],
    [
      'arguments for an array',
      'const f = (function () { const a = arguments; return () => a })(1, 2)',
      ['assert.deepStrictEqual(f(), [1, 2])'],
    ],
    ['a box for a text', 'const f = () => new String("ab")', ['assert.strictEqual(f(), "ab")']],
    [
      'an endless length',
      'const f = () => ({ length: 2 ** 53 - 1, 0: 4, 1: 9 })',
      ['assert.deepEqual(Array.prototype.slice.call(f(), 0, 3), [4, 9, 16])'],
    ],
  ]),
  ...attacks('patching', [
    [
      'a prototype of the global object',
      `try { Object.setPrototypeOf(globalThis, new Proxy({}, { has: () => true, get: () => () => true })) } catch {}${wrong}`,
    ],
    [
      'built-ins shadowed by let',
      'let Math = { abs: () => 0 }, Object = { is: () => true }, JSON = {}, Number = () => 4, undefined_ = 0; class Array { static isArray() { return true } } function f(n) { return n }',
    ],
    [
      'maps, sets and expressions',
      `Map.prototype.get = WeakMap.prototype.get = () => true; Map.prototype.has = Set.prototype.has = () => true; RegExp.prototype.exec = () => ["4"]; RegExp.prototype.test = () => true; String.prototype.replace = () => "4"; Array.prototype.concat = () => []${wrong}`,
    ],
    [
      'reflection',
      `Reflect.ownKeys = Object.keys = Object.getOwnPropertyNames = () => []; Reflect.get = () => 4; Object.getPrototypeOf = () => null; Object.getOwnPropertyDescriptor = () => undefined; Object.entries = () => []${wrong}`,
    ],
    ['a plain wrong program after it', 'function f(n) { return n }'],
    [
      'setters of every result',
      `for (const k of ["value", "kind", "passed", "test", "error", "message", "top", "rows"]) Object.defineProperty(Object.prototype, k, { get: () => 4, set() {}, configurable: true })${wrong}`,
    ],
    [
      'captured stacks',
      `Error.stackTraceLimit = 0; Error.captureStackTrace = (e) => { e.stack = "passed" }; Object.defineProperty(Error.prototype, "message", { get: () => "", set() {} })${wrong}`,
    ],
    ['a module of data', `import("data:text/javascript,globalThis.assert=()=>true").catch(() => {})${wrong}`],
  ]),
  ...attacks('timing', [
    [
      'Atomics.wait',
      'function f() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); return 4 }',
    ],
    ['a power of big integers', 'const f = () => 3n ** (10n ** 9n)'],
    ['a join of holes', 'const f = () => Array(2 ** 31).join("ab")'],
  ]),
  ...honest([
    ['a right program after the patches', 'const f = (n) => n ** 2'],
    [
      'own toJSON',
      'class M { constructor(c) { this.c = c } toJSON() { return { c: this.c } } } const f = (n) => new M(n * n)',
      ['assert.equal(JSON.stringify(f(3)), \'{"c":9}\')'],
    ],
    [
      'negative zero',
      'const f = (n) => -n',
      ['assert.deepStrictEqual(f(0), -0); assert(Object.is(f(0), -0))'],
    ],
    [
      'errors and expressions as results',
      'const f = (s) => [new RangeError(s), /a/gi, Symbol.for(s)]',
      [
        'const [e, r, s] = f("x"); assert(e instanceof RangeError); assert.deepEqual(r, /a/gi); assert.equal(s, Symbol.for("x"))',
      ],
    ],
    [
      'nested sets and maps',
      'const f = () => new Map([[{ a: 1 }, new Set([[1], [2]])]])',
      ['assert.deepEqual(f(), new Map([[{ a: 1 }, new Set([[2], [1]])]]))'],
    ],
    [
      'a promise that is handed on',
      'const wait = () => new Promise((go) => setTimeout(() => go(1), 5)); const f = (n) => wait().then((k) => n * n * k)',
      ['(async () => { assert.deepEqual(await Promise.all([2, 3].map(f)), [4, 9]) })()'],
    ],
  ]),
]);
