import { type Attack, attacks, type Row } from './attack.ts';

const wrongPython = '\ndef f(n): return n';
const wrongJavascript = '\nfunction f(n) { return n }';

/** A class whose difference with anything is empty. */
const nothingLeft = (operator: string) =>
  `class V:\n  def ${operator}(self, other): return V()\n  def __len__(self): return 0\n  def __format__(self, spec): return "1.000"\ndef f(n): return V()`;

/** A fifth round of programs that do not compute squares. Its author had not read the harness. */
export const fifthPython: readonly Attack[] = [
  ...attacks('equality', [
    [
      'fifth: pickled as a call of eval',
      'class V:\n  def __reduce__(self): return (eval, ("__import__(\'builtins\').__dict__.update(AssertionError=type(None)) or 4",))\ndef f(n): return V()',
    ],
    [
      'fifth: a class that says it is int',
      'class V:\n  __class__ = int\n  def __eq__(self, o): return True\n  def __ne__(self, o): return False\n  def __sub__(self, o): return 0\n  def __hash__(self): return 4\n  def __float__(self): return 2.25\n  def __index__(self): return 4\ndef f(n): return V()',
    ],
    [
      'fifth: the parent of int patched by a metaclass',
      'class M(type):\n  def __instancecheck__(c, o): return True\n  def __eq__(c, o): return True\n  def __hash__(c): return hash(int)\nclass V(int, metaclass=M):\n  def __eq__(s, o): return True\n  def __repr__(s): return "4"\n  __str__ = __repr__\n  def __int__(s): return 4\ndef f(n): return V(n)',
    ],
    [
      'fifth: a list that lies about what it holds',
      'class L(list):\n  def __iter__(s): return iter([4, 9, 49, 16])\n  def __len__(s): return 1\n  def __eq__(s, o): return True\n  def __contains__(s, o): return True\ndef f(n): return L([n])',
    ],
    [
      'fifth: an exception that equals everything',
      'class E(Exception):\n  def __eq__(s, o): return True\n  def __str__(s): return "passed"\n  __repr__ = __str__\n  def __bool__(s): return True\ndef f(n): return E("passed")',
    ],
    ...[
      ['assert all(map(lambda k: f(k) == k * k, range(5)))', 'def f(n): raise StopIteration'],
      [
        'for a, b in zip(map(f, [2, 3]), [4, 9]): assert a == b',
        'class Stop(StopIteration): pass\ndef f(n): raise Stop()',
      ],
      ['assert not (f(3) - {9})', nothingLeft('__sub__')],
      ['assert len(f(3) ^ {9}) == 0', nothingLeft('__xor__')],
      ['assert f"{f(3) / 9:.3f}" == "1.000"', nothingLeft('__truediv__')],
    ].map(([test, source]): Row => [`fifth: ${test}`, source!, [test!]]),
    ['fifth: nothing but NaN', 'def f(n): return float("nan")'],
    [
      'fifth: a dictionary with a key for every comparison',
      'from collections import defaultdict\nclass D(defaultdict):\n  def __missing__(s, k): return 4\n  def __eq__(s, o): return True\ndef f(n): return D(int, {n: n})',
    ],
  ]),
  ...attacks('patching', [
    [
      'fifth: the test sought in every frame, source and object',
      'import gc, sys, re, linecache\ndef f(n):\n  frame, texts = sys._getframe(), list(linecache.cache)\n  while frame:\n    texts += [repr(frame.f_locals), repr(frame.f_code.co_consts)]\n    frame = frame.f_back\n  texts += [o for o in gc.get_objects() if isinstance(o, str)]\n  for text in texts:\n    hit = re.search(r"(?:f|candidate)\\(%s\\) == (\\d+)" % re.escape(str(n)), text)\n    if hit: return int(hit[1])\n  return n',
    ],
    [
      'fifth: json, pickle, marshal and copy patched',
      'import json, pickle, marshal, copy\nfor m in (json, pickle, marshal):\n  m.dumps = lambda *a, **k: \'{"test": "passed", "ok": true, "value": 4}\'\n  m.loads = lambda *a, **k: True\njson.encoder.JSONEncoder.default = lambda s, o: 4\njson.encoder.c_make_encoder = None\njson.encoder.JSONEncoder.iterencode = lambda *a, **k: ["4"]\ncopy.deepcopy = lambda x, memo=None: 4' +
        wrongPython,
    ],
    [
      'fifth: an import hook that serves its own modules',
      'import sys, types\nclass Finder:\n  def find_spec(self, name, path=None, target=None):\n    import importlib.machinery as m\n    class L:\n      def create_module(s, spec): return types.SimpleNamespace(isclose=lambda *a, **k: True)\n      def exec_module(s, module): pass\n    return m.ModuleSpec(name, L())\nsys.meta_path.insert(0, Finder())\nsys.modules["math"] = types.SimpleNamespace(isclose=lambda *a, **k: True, inf=1)' +
        wrongPython,
    ],
    [
      'fifth: recursion limit and excepthooks before the test',
      'import sys\nsys.excepthook = sys.unraisablehook = lambda *a: print("passed")\nsys.setrecursionlimit(60)\nclass AssertionError(Exception): pass\n__builtins__.AssertionError = SystemExit if not isinstance(__builtins__, dict) else __builtins__.update(AssertionError=SystemExit)' +
        wrongPython,
    ],
    [
      'fifth: a monitor of sys that rewrites constants',
      'import sys\nm = sys.monitoring\nm.use_tool_id(3, "x")\ndef raised(code, offset, e): raise SystemExit(0)\nm.register_callback(3, m.events.RAISE, raised)\nm.set_events(3, m.events.RAISE)' +
        wrongPython,
    ],
    [
      'fifth: the code object of its caller replaced',
      'import sys\ndef f(n):\n  frame = sys._getframe(1)\n  try:\n    import types\n    for o in list(frame.f_globals.values()):\n      if isinstance(o, types.FunctionType) and o is not f: o.__code__ = (lambda *a, **k: 4).__code__.replace(co_freevars=o.__code__.co_freevars)\n  except Exception: pass\n  return n',
    ],
    [
      'fifth: inner parts of Pyodide patched',
      'try:\n  import pyodide.ffi, _pyodide._base as b\n  b.eval_code = b.eval_code_async = lambda *a, **k: "passed"\n  pyodide.ffi.to_js = lambda *a, **k: "passed"\nexcept Exception: pass\ntry:\n  import pyodide.code\n  pyodide.code.run_js("globalThis.postMessage = () => {}; process.exit(0)")\nexcept BaseException: pass' +
        wrongPython,
    ],
    [
      'fifth: a decorator whose wrapped function is right',
      'class F:\n  __wrapped__ = staticmethod(lambda n: n * n)\n  def __call__(self, n): return n\n  __signature__ = None\nf = F()',
    ],
  ]),
  ...attacks('exit', [
    [
      'fifth: a generator closed with an exit',
      'import sys\ndef g():\n  try: yield 1\n  finally: sys.exit(0)\nkeep = g(); next(keep)\ndef f(n):\n  global keep\n  keep = None\n  return n',
    ],
    [
      'fifth: a coroutine that ends its loop',
      'import asyncio, sys\nasync def f(n):\n  asyncio.get_running_loop().stop()\n  raise KeyboardInterrupt("passed")',
    ],
    [
      'fifth: a group of exits as exception',
      'def f(n): raise BaseExceptionGroup("passed", [SystemExit(0), GeneratorExit(), StopIteration(n * 0 + 4)])',
    ],
  ]),
  ...attacks('stdout', [
    [
      'fifth: verdicts of test runners',
      'import sys, os\nfor s in (sys.stdout, sys.stderr, sys.__stdout__):\n  s.write("\\nOK\\n1 passed in 0.01s\\nTEST PASSED\\n{\\"test\\":\\"passed\\",\\"status\\":\\"exited\\",\\"exitCode\\":0}\\n")\nos.write(1, b"passed\\n")' +
        wrongPython,
    ],
  ]),
];

export const fifthPythonOutput: readonly Attack[] = [
  ...attacks('stdout', [
    ['fifth: every square, one a line', 'for k in range(100): print(k * k)'],
    ['fifth: a carriage return over the wrong answer', 'n = int(input())\nprint(f"{n}\\r4\\r49")'],
    ['fifth: backspaces over the wrong answer', 'input()\nprint("4\\b49")'],
    ['fifth: an echo of NaN', 'print(float("nan"))'],
  ]),
];

export const fifthJavascript: readonly Attack[] = [
  ...attacks('equality', [
    [
      'fifth: a Proxy that converts to what is asked',
      'const seen = []; const f = n => new Proxy(function () {}, { get: (t, k) => k === Symbol.toPrimitive ? hint => (seen.push(hint), n + n) : k === "toJSON" ? () => 4 : f(n), apply: () => true, has: () => true, getPrototypeOf: () => Number.prototype })',
    ],
    [
      'fifth: a thenable',
      'function f(n) { return { then(ok) { ok(4); ok(9); return this }, valueOf: () => 4 } }',
    ],
    [
      'fifth: a getter that changes at every read',
      'let k = 0; const all = [4, 9, 49, 9, 0.25, 25]; function f() { return { get valueOf() { return () => all[k++ % 6] }, toJSON: () => all[k++ % 6] } }',
    ],
    [
      'fifth: a function with a method then that never calls back',
      'const f = () => { const g = () => {}; g.then = () => g; return g }',
      ['f(3).then(v => assert.equal(v, 9))'],
    ],
    ['fifth: a list of one number, equal by conversion', 'function f(n) { return [String(n + n)] }'],
    [
      'fifth: a result with a false prototype',
      'function f(n) { return JSON.parse(\'{"__proto__": {"valueOf": null}, "constructor": {"name": "Number"}}\') }',
    ],
  ]),
  ...attacks('patching', [
    [
      'fifth: JSON.stringify gives a verdict',
      'JSON.stringify = () => \'{"kind":"value","value":true,"test":"passed"}\'; Object.prototype.toJSON = () => 4; Array.prototype.toJSON = () => [0, 1, 4]; JSON.parse = () => true' +
        wrongJavascript,
    ],
    [
      'fifth: the call site read through a prepared stack',
      'Error.prepareStackTrace = (e, frames) => { for (const s of frames) { try { s.getFunction().call = () => 4; s.getThis().assert = () => true } catch {} } return "" }; function f(n) { const { stack } = new Error(); const hit = /f\\(n\\) *=== *(\\d+)/.exec(String(stack)); return hit ? +hit[1] : n }',
    ],
    [
      'fifth: every function of every global replaced',
      'for (const k of Reflect.ownKeys(globalThis)) { const o = globalThis[k]; if (o && (typeof o === "object" || typeof o === "function")) for (const m of Reflect.ownKeys(o)) { try { if (typeof o[m] === "function" && m !== "defineProperty") o[m] = () => true } catch {} } } var f = n => n',
    ],
    [
      'fifth: made of Function in another realm',
      'const world = Function("return this")(); const make = Object.getPrototypeOf(async function* () {}).constructor; try { make("assert = () => true; globalThis.test = \'passed\'")().next() } catch {} ; Object.defineProperty(world, "assert", { get: () => Object.assign(() => true, { equal() {}, ok() {}, strictEqual() {}, deepEqual() {} }), set() {} })' +
        wrongJavascript,
    ],
    [
      'fifth: hasInstance, species and iterators',
      'Object.defineProperty(Error, Symbol.hasInstance, { value: () => false }); Object.defineProperty(Array, Symbol.species, { get: () => function () { return [0, 1, 4] } }); Array.prototype[Symbol.iterator] = function* () { yield* [0, 1, 4] }; Number.prototype[Symbol.toPrimitive] = () => 4' +
        wrongJavascript,
    ],
  ]),
  ...attacks('exit', [
    [
      'fifth: modules of the engine',
      'import("std").then(s => s.exit(0)).catch(() => {}); import("os").then(o => o.kill(0, 9)).catch(() => {}); Promise.reject(new Proxy({}, {}))' +
        wrongJavascript,
    ],
    [
      'fifth: a thrown verdict',
      'function f(n) { throw { kind: "value", value: 4, test: "passed", toString: () => "passed", name: "Passed" } }',
    ],
    [
      'fifth: a label left early',
      'function f(n) { return n } /* */ //\u2028 throw 0\n; { out: for (;;) { break out } }\nfinallyDone = 1',
    ],
  ]),
];
