import { type Attack, honest } from './attack.ts';

/** Right JavaScript programs. */
export const honestJavascript: readonly Attack[] = honest([
  ['plain', 'const f = (n) => n * n', ['assert(f(2) === 4)', 'assert.equal(f(3), 9)']],
  ['text', 'function rev(s) { return [...s].reverse().join("") }', ['assert.equal(rev("añ😀"), "😀ña")']],
  [
    'special numbers',
    'const f = (x) => 1 / x',
    ['assert.equal(f(0), Infinity); assert(Number.isNaN(f(NaN))); assert(Math.abs(f(3) - 0.333333) < 1e-5)'],
  ],
  [
    'nested data',
    'const f = (n) => ({ n, list: [n, [n]], none: null, no: undefined })',
    ['assert.deepEqual(f(1), { n: 1, list: [1, [1]], none: null, no: undefined })'],
  ],
  [
    'maps and sets',
    'const f = (xs) => new Map(xs.map((x, k) => [x, new Set([k])]))',
    ['assert.deepEqual(f(["a"]), new Map([["a", new Set([0])]])); assert.equal(f(["b"]).size, 1)'],
  ],
  [
    'big integers',
    'const f = (n) => { let r = 1n; for (let k = 2n; k <= n; k++) r *= k; return r }',
    ['assert.equal(f(25n), 15511210043330985984000000n)'],
  ],
  [
    'a class',
    'class Stack { #xs = []; push(x) { this.#xs.push(x); return this } pop() { if (!this.#xs.length) throw new RangeError("empty"); return this.#xs.pop() } get size() { return this.#xs.length } }',
    [
      'const s = new Stack(); s.push(1).push(2); assert.equal(s.pop(), 2); assert.equal(s.size, 1); assert(s instanceof Stack); assert.throws(() => new Stack().pop(), RangeError)',
    ],
  ],
  [
    'inheritance',
    'class A { name() { return "a" } } class B extends A { name() { return super.name() + "b" } }',
    ['const b = new B(); assert.equal(b.name(), "ab"); assert(b instanceof A)'],
  ],
  [
    'errors of its own',
    'class Bad extends Error { constructor(m) { super(m); this.name = "Bad" } } function f(n) { if (n < 0) throw new Bad("negative"); return Math.sqrt(n) }',
    [
      'assert.equal(f(4), 2); assert.throws(() => f(-1), Bad); assert.throws(() => f(-1), /negative/); try { f(-1); assert.fail() } catch (e) { assert.equal(e.name, "Bad") }',
    ],
  ],
  [
    'changes its argument',
    'const shuffle = (a) => { a.reverse() }',
    ['const a = [1, 2, 3]; shuffle(a); assert.deepEqual(a, [3, 2, 1])'],
  ],
  [
    'callbacks',
    'const map = (xs, g) => { const out = []; for (const x of xs) out.push(g(x)); return out }',
    ['assert.deepEqual(map([1, 2], (x) => x + 1), [2, 3])'],
  ],
  [
    'closures',
    'const counter = () => { let n = 0; return { up: () => ++n, get value() { return n } } }',
    ['const c = counter(); c.up(); c.up(); assert.equal(c.value, 2)'],
  ],
  [
    'methods with this',
    'const make = () => ({ n: 1, add(k) { this.n += k; return this } })',
    ['assert.equal(make().add(2).add(3).n, 6)'],
  ],
  [
    'a generator',
    'function* f(n) { for (let k = 0; k < n; k++) yield k * k }',
    [
      'assert.deepEqual([...f(4)], [0, 1, 4, 9]); const g = f(2); assert.deepEqual(g.next(), { value: 0, done: false })',
    ],
  ],
  [
    'async',
    'const f = async (n) => { await null; if (n < 0) throw new TypeError("no"); return n + 1 }',
    ['(async () => { assert.equal(await f(1), 2); await assert.rejects(() => f(-1), TypeError) })()'],
  ],
  ['exports', 'module.exports = { f: (n) => n + 1 }', ['assert.equal(f(1), 2)']],
  ['export', 'export function f(n) { return n + 1 }\nexport const g = 2', ['assert.equal(f(g), 3)']],
  [
    'dates and expressions',
    'const f = (d) => new Date(d.getTime() + 1000)',
    ['assert.deepEqual(f(new Date(0)), new Date(1000))'],
  ],
  [
    'typed arrays',
    'const f = (n) => Float64Array.from({ length: n }, (_, k) => k / 2)',
    ['assert.deepEqual([...f(3)], [0, 0.5, 1])'],
  ],
  [
    'deep data',
    'const f = (n) => { let x = null; for (let k = 0; k < n; k++) x = { next: x }; return x }',
    ['let x = f(3000), n = 0; while (x) { x = x.next; n++ } assert.equal(n, 3000)'],
  ],
]);
