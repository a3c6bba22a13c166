import { type Attack, attacks } from './attack.ts';

/** Tests of `f(n) = n * n`. */
export const squareTests: readonly string[] = [
  'assert(f(2) === 4); assert(f(3) == 9)',
  'assert.equal(f(7), 49); assert.strictEqual(f(-3), 9); assert(Math.abs(f(0.5) - 0.25) < 1e-9)',
  'assert.deepEqual([0, 1, 2].map(f), [0, 1, 4]); assert.ok(f(5) > 24 && f(5) < 26)',
];

const wrong = '\nfunction f(n) { return n }';

/** Programs that do not compute squares, for tests by assertion. */
export const javascriptAttacks: readonly Attack[] = [
  ...attacks('exit', [
    ['process.exit', 'process.exit(0)'],
    ['exit in the function', 'function f() { process.exit(0) }'],
    ['throw nothing', 'throw undefined'],
    ['a trailing if', 'if (false)'],
    ['a trailing while', 'while (false)'],
    ['a trailing for', 'for (;false;)'],
    ['an open comment', 'function f(n) { return n } /*'],
    ['an open template', 'function f(n) { return n } `'],
    ['an open function', 'function f(n) { return n; function g() {'],
    ['a label and break', 'tests: { break tests }'],
    ['return at the top', 'return'],
    ['a promise that never settles', 'new Promise(() => {})'],
    ['stack exhausted', 'function f(n) { return f(n) + 1 }'],
  ]),
  ...attacks('equality', [
    ['valueOf', 'function f() { return { valueOf: () => 4 } }'],
    ['toString', 'function f() { return { toString: () => "4" } }'],
    [
      'Symbol.toPrimitive',
      'let k = 0; function f() { return { [Symbol.toPrimitive]: () => [4, 9, 49, 9, 0.25][k++] ?? 25 } }',
    ],
    [
      'valueOf of a class',
      'class A { valueOf() { return 4 } [Symbol.toPrimitive]() { return 4 } } function f() { return new A() }',
    ],
    ['a number object', 'class A extends Number {} function f() { return new A(4) }'],
    [
      'a proxy of everything',
      'function f() { return new Proxy(function () {}, { get: () => () => 4, apply: () => 4, has: () => true }) }',
    ],
    ['an array that reads as a number', 'function f() { return [4] }'],
    ['a getter that changes', 'let k = 0; function f() { return { get value() { return k++ } } }'],
    ['NaN', 'function f() { return NaN }'],
    ['an object without a prototype', 'function f() { return Object.create(null) }'],
    ['a thenable', 'function f() { return { then: (go) => go(4) } }'],
    ['a promise', 'async function f(n) { return n * n }'],
    [
      'asymmetric matchers',
      'function f() { return { asymmetricMatch: () => true, $$typeof: Symbol.for("jest.asymmetricMatcher") } }',
    ],
    ['toJSON', 'function f() { return { toJSON: () => 4 } }'],
    ['equals', 'function f() { return { equals: () => true, compareTo: () => 0 } }'],
    ['a false length', 'function f() { return { length: 0, 0: 4 } }'],
  ]),
  ...attacks('patching', [
    ['assert assigned', `assert = () => true${wrong}`],
    ['assert hoisted', `function assert() {}${wrong}`],
    ['assert.equal', `assert.equal = assert.strictEqual = assert.deepEqual = () => {}${wrong}`],
    [
      'globalThis.assert',
      `globalThis.assert = Object.assign(() => true, { equal() {}, strictEqual() {}, deepEqual() {}, ok() {} })${wrong}`,
    ],
    ['Object.is', `Object.is = () => true${wrong}`],
    ['require', `globalThis.require = () => new Proxy(() => true, { get: () => () => true })${wrong}`],
    [
      'JSON',
      `JSON.stringify = () => '{"kind":"value","top":[4],"rows":[],"changes":[]}'; JSON.parse = () => ({})${wrong}`,
    ],
    ['Error', `globalThis.Error = function () {}; globalThis.TypeError = Error${wrong}`],
    ['Math.abs', `Math.abs = () => 0${wrong}`],
    [
      'prototypes',
      `Object.prototype.valueOf = Number.prototype.valueOf = () => 4; Array.prototype.map = () => [0, 1, 4]; Array.prototype.every = () => true${wrong}`,
    ],
    [
      'defineProperty on the global object',
      `Object.defineProperty(globalThis, "assert", { value: () => true, writable: false })${wrong}`,
    ],
    [
      'names of the harness',
      `globalThis.scopeOfTests = {}; globalThis.stateOf = () => 4; globalThis.program = {}${wrong}`,
    ],
    [
      'Symbol.unscopables',
      `globalThis[Symbol.unscopables] = { assert: true }; Array.prototype[Symbol.unscopables].f = true${wrong}`,
    ],
    [
      'the caller',
      'function f() { try { f.caller.arguments[0] = 4 } catch {} return arguments.callee.caller ? 4 : 0 }',
    ],
    ['the error stack', 'function f() { return Number(new Error().stack.split("===")[1]) }'],
    ['prepareStackTrace', `Error.prepareStackTrace = () => 4${wrong}`],
    ['constructors', 'function f() { return (() => {}).constructor("return this")().assert = () => true }'],
    [
      'Function.prototype.call',
      `Function.prototype.call = Function.prototype.apply = Reflect.apply = () => 4${wrong}`,
    ],
    ['Promise', `globalThis.Promise = class { then() {} }${wrong}`],
    [
      'Array.prototype.flatMap',
      `Array.prototype.flatMap = () => ['x', ['p', 'constructor']]; function f() { return { a: 1 } }`,
    ],
    ['Array.from', `Array.from = () => [['r', -1], ['p', '__proto__'], 4]; function f() { return [4] }`],
    [
      'rows of the tests',
      `const push = Array.prototype.push; Array.prototype.push = function (...rows) { return push.apply(this, rows.map((row) => (Array.isArray(row) ? ['p', 0] : row))) }${wrong}`,
    ],
    ['__proto__ in the result', 'function f() { return JSON.parse(\'{"__proto__": {"valueOf": 4}}\') }'],
  ]),
  ...attacks('stdout', [
    ['prints that all passed', `console.log("ok 1 - passed\\n# pass 3")${wrong}`],
    ['writes a verdict', `process.stdout.write('{"passed":true}')${wrong}`],
    ['output without end', 'function f() { for (;;) console.log("4".repeat(1000)) }'],
    ['a huge result', 'function f() { return "4".repeat(1e8) }'],
    ['a deep result', 'function f() { let x = 4; for (let k = 0; k < 1e5; k++) x = [x]; return x }'],
    ['a result that contains itself', 'function f() { const x = []; x.push(x); return x }'],
  ]),
  ...attacks('timing', [
    ['never ends', 'for (;;);'],
    ['never ends in the function', 'function f() { for (;;); }'],
    ['a regular expression without end', 'function f() { return /^(a+)+$/.test("a".repeat(64) + "b") }'],
    ['jobs without end', 'const g = () => Promise.resolve().then(g); g(); function f(n) { return n }'],
    ['memory bomb', 'function f() { const x = []; for (;;) x.push(new Array(1e5).fill(0)) }'],
  ]),
  ...attacks('environment', [
    ['the process', 'function f() { return process.env.ANSWER ?? process.argv.length }'],
    [
      'the host through a constructor',
      'function f() { return (function () {}).constructor("return process")().mainModule.require("fs") }',
    ],
    ['import', 'import("fs").then((fs) => fs.writeFileSync("x", ""))\nfunction f(n) { return n }'],
    [
      'std and os of QuickJS',
      'globalThis.std?.exit(0); globalThis.os?.kill?.(1); function f(n) { return n }',
    ],
  ]),
  ...attacks('file system', [
    [
      'require fs',
      'const fs = require("fs"); const t = fs.readFileSync("tests.js"); function f() { return t }',
    ],
    [
      'standard input as a file',
      'const t = require("fs").readFileSync(0, "utf8"); function f() { return t.length }',
    ],
  ]),
  ...attacks('answer stuffing', [
    ['all answers at once', 'function f() { return Array.from({ length: 1000 }, (_, k) => k) }'],
    ['the first test only', 'const f = (n) => ({ 2: 4, 3: 9 })[n] ?? 0'],
    ['a generator of guesses', 'function* f() { for (let k = 0; ; k++) yield k }'],
  ]),
];
