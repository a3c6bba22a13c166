import { ArgumentError, OptionsError } from '@rlp/core';
import { afterAll, describe, expect, it } from 'vitest';
import type { CodeOutcome } from '../code-runner.ts';
import { pythonRunner } from '../python.ts';

const { signal } = new AbortController();
const runner = pythonRunner({ maxOutputBytes: 100_000, memoryBytes: 128 * 1_048_576 });
afterAll(() => runner.close());

const run = (source: string, { input = '', timeoutMs = 20_000 } = {}): Promise<CodeOutcome> =>
  runner({ language: 'python', source, input }, { timeoutMs, signal });
const judge = async (source: string, test: string, timeoutMs = 20_000) =>
  (await runner({ language: 'python', source, input: '', test }, { timeoutMs, signal })).test;

// The first interpreter of a process takes seconds.
const seconds = { timeout: 120_000 };

describe('pythonRunner in WebAssembly', seconds, () => {
  it('ends a call that is aborted while the first interpreter starts', async () => {
    await using fresh = pythonRunner();
    const controller = new AbortController();
    const program = { language: 'python', source: '', input: '' };
    const limits = { timeoutMs: 20_000 };
    const begun = performance.now();
    const whole = fresh(program, { ...limits, signal }).then(() => performance.now() - begun);
    const ended = fresh(program, { ...limits, signal: controller.signal }).then(
      () => Number.POSITIVE_INFINITY,
      () => performance.now() - begun,
    );
    controller.abort(new Error('enough'));
    expect(await ended).toBeLessThan((await whole) / 2);
  });

  it('gives programs their input, text in any language, and their exit code', async () => {
    const source = 'import sys\nfor line in sys.stdin: print(line.strip()[::-1])\nsys.exit(3)';
    const outcome = await run(source, { input: 'añ😀\nb' });
    expect(outcome).toEqual({ status: 'exited', exitCode: 3, stdout: '😀ña\nb\n', stderr: '' });
    expect(await run('print("early")', { input: 'x'.repeat(1_000_000) })).toMatchObject({ exitCode: 0 });
  });

  it('runs what solutions are written with', async () => {
    const source = `import asyncio, collections, dataclasses, decimal, fractions, functools, heapq, itertools, json, math, re, threading, typing
import sys
sys.setrecursionlimit(10 ** 6)
threading.stack_size(64 * 1024 * 1024)
@dataclasses.dataclass
class Box:
    n: int
def deep(n): return 0 if n == 0 else 1 + deep(n - 1)
async def later(n):
    await asyncio.sleep(0.001)
    return n
async def both(): return await asyncio.gather(later(1), later(2))
def main(): print(Box(deep(20000)), asyncio.run(both()))
thread = threading.Thread(target=main)
thread.start()
thread.join()
if __name__ == '__main__': print({'b', 'a'} == {'a', 'b'}, input())`;
    expect(await run(source, { input: 'x' })).toMatchObject({
      stdout: 'Box(n=20000) [1, 2]\nTrue x\n',
      exitCode: 0,
    });
  });

  it.each([
    [
      'a pool of threads',
      'from concurrent.futures import ThreadPoolExecutor, as_completed\nwith ThreadPoolExecutor(max_workers=4) as pool:\n  print(sorted(f.result() for f in as_completed([pool.submit(pow, n, 2) for n in range(4)])), list(pool.map(abs, [-1])))',
      '[0, 1, 4, 9] [1]\n',
    ],
    [
      'an error in a pool',
      'import concurrent.futures as c\ntry: c.ThreadPoolExecutor().submit(lambda: 1 / 0).result()\nexcept ZeroDivisionError as e: print(e)',
      'division by zero\n',
    ],
    [
      'threads under asyncio',
      'import asyncio\nasync def main(): return await asyncio.gather(asyncio.to_thread(abs, -4), asyncio.sleep(0.001, 5))\nprint(asyncio.run(main()))',
      '[4, 5]\n',
    ],
    [
      '/dev/null',
      'import contextlib, os, sys\nwith open(os.devnull, "w") as null, contextlib.redirect_stdout(null): print("a" * 100000)\nprint(open("/dev/null").read() == "", "b", file=sys.stdout)',
      'True b\n',
    ],
    [
      'a queue between threads that run in turn',
      'import queue, threading\nq = queue.Queue()\nthreading.Thread(target=lambda: [q.put(n) for n in range(3)]).start()\nprint([q.get() for _ in range(3)])',
      '[0, 1, 2]\n',
    ],
  ])('runs %s', async (_, source, stdout) => {
    expect(await run(source)).toEqual({ status: 'exited', exitCode: 0, stdout, stderr: '' });
  });

  it.each([
    ['a queue', 'import queue\nqueue.Queue().get()'],
    ['a simple queue', 'import queue\nqueue.SimpleQueue().get()'],
    ['an event', 'import threading\nthreading.Event().wait()'],
  ])('says why a thread that waits for another at %s cannot go on', async (_, source) => {
    const { status, stderr } = await run(source);
    expect([status, stderr]).toEqual([
      'exited',
      expect.stringMatching(
        /RuntimeError: this thread waits for another one for ever: threads run one after another/,
      ),
    ]);
  });

  it.each<[name: string, source: string, ending: CodeOutcome['status'] | RegExp]>([
    ['an endless loop', 'while True: pass', 'timed-out'],
    [
      'an endless loop that catches everything',
      'while True:\n  try:\n    while True: pass\n  except BaseException: pass',
      'timed-out',
    ],
    ['a loop inside a function in C', 'sum(range(10 ** 12))', 'timed-out'],
    ['waiting', 'import time\ntime.sleep(100)', 'timed-out'],
    ['a memory bomb', 'x = []\nwhile True: x.append([0] * 100000)', 'out-of-memory'],
    ['output without end', 'while True: print("x" * 1000)', 'output-too-long'],
    ['JavaScript', 'import js', /No module named 'js'/],
    ['Pyodide', 'import pyodide_js', /No module named 'pyodide_js'/],
    [
      'Pyodide by its built-in module',
      'import _pyodide_core as core\nfor name in dir(core):\n  try: getattr(core, name)("1")\n  except Exception: pass\nraise SystemError',
      /leave the interpreter|SystemError/,
    ],
    [
      'JavaScript found among all objects',
      'import gc\nfor x in gc.get_objects():\n  if type(x).__name__ == "JsProxy": print(dir(x), x.constructor)\nraise SystemError',
      /leave the interpreter|SystemError/,
    ],
    [
      'machine code',
      'import ctypes\nprint(ctypes.CDLL(None).emscripten_run_script(b"process.exit(1)"))',
      /leave the interpreter|Error/,
    ],
    [
      'a network',
      'import socket\nsocket.create_connection(("127.0.0.1", 80))',
      /leave the interpreter|Error/,
    ],
    ['a process', 'import subprocess\nsubprocess.run(["id"])', /Error/],
    ['a command', 'import os\nif os.system("id"): raise OSError("none")', /leave the interpreter|OSError/],
    ['files of the host', 'print(open("/etc/passwd").read())', /FileNotFoundError/],
    ['a file written', 'open("/tmp/x", "w")', /PermissionError|Errno 2/],
    ['a file made otherwise', 'import os\nos.mkdir("/tmp/x")', /PermissionError/],
    ['the environment', 'import os\nraise Exception(sorted(os.environ))', /\['HOME', 'LANG'\]/],
    ['a native stack', 'x = []\nfor k in range(100000): x = [x]\nprint(repr(x)[:9])', /Recursion|broke/],
    ['no Python', 'This is no program.', /SyntaxError/],
  ])('contains %s', async (_, source, ending) => {
    const outcome = await run(source, { timeoutMs: ending === 'timed-out' ? 100 : 20_000 });
    if (typeof ending === 'string') {
      expect(outcome).toMatchObject({ status: ending, exitCode: null });
      expect(outcome.stdout.length + outcome.stderr.length).toBeLessThanOrEqual(100_000);
    } else {
      expect(outcome).toMatchObject({ status: 'exited', stderr: expect.stringMatching(ending) });
      expect(outcome.exitCode).not.toBe(0);
    }
    expect(await run('print(1)')).toMatchObject({ stdout: '1\n', exitCode: 0 });
  });

  it('starts every program in a fresh interpreter', async () => {
    const first = await run(
      'import builtins, json, sys\nbuiltins.len = json.dumps = None\nsys.modules["math"] = 1\nimport math\nprint(math)',
    );
    expect(first.stdout).toBe('1\n');
    const second = await run('import json, math\nprint(len("ab"), json.dumps([1]), math.pi > 3)');
    expect(second.stdout).toBe('2 [1] True\n');
    const source = 'import random\nprint({str(k) for k in range(20)}, random.random())';
    expect((await run(source)).stdout).toBe((await run(source)).stdout);
  });

  it('ends a program whose call is aborted, and refuses other languages and bad options', async () => {
    const controller = new AbortController();
    const limits = { timeoutMs: 60_000, signal: controller.signal };
    const running = runner({ language: 'python', source: 'while True: pass', input: '' }, limits);
    setTimeout(() => controller.abort(new Error('enough')), 100);
    await expect(running).rejects.toThrow('enough');
    const program = { language: 'ruby', source: '', input: '' };
    await expect(runner(program, { timeoutMs: 1000, signal })).rejects.toThrow(ArgumentError);
    expect(() => pythonRunner({ memoryBytes: 1, packages: 'all' as never })).toThrow(OptionsError);
    expect(runner.getStatistics()).toMatchObject({ isolation: 'webassembly' });
  });
});

describe('tests apart from a Python program', seconds, () => {
  it.each<[source: string, test: string]>([
    ['def f(n): return n * n', 'assert f(2) == 4'],
    ['def add(a, b=1, *c, **d): return (a, b, c, d)', 'assert add(1, 2, 3, e=4) == (1, 2, (3,), {"e": 4})'],
    [
      'def f(x): return x',
      'import math\nfor x in [None, True, 3, -2**80, 10**5000, 0.1, 1e308, "ä\\ud800", b"\\x00\\xff", (1, (2,)), {1: {2: [3]}}, {1, 2}, frozenset({(1, 2)}), 1j, range(3), [[]] * 2]:\n  assert f(x) == x and type(f(x)) is type(x), x\nassert math.isnan(f(math.nan)) and f(math.inf) == math.inf',
    ],
    [
      'def f(n):\n  x = []\n  for _ in range(n): x = [x]\n  return x',
      'x = f(5000)\nn = 0\nwhile x: x, n = x[0], n + 1\nassert n == 5000',
    ],
    [
      'class M(list):\n  def __matmul__(s, o): return M([[sum(a * b for a, b in zip(r, c)) for c in zip(*o)] for r in s])\nclass D(dict): pass\nclass S(set): pass\nclass V(tuple):\n  def __add__(s, o): return V(a + b for a, b in zip(s, o))\n  def __repr__(s): return "V" + tuple.__repr__(s)',
      'assert M([[1, 2]]) @ M([[3], [4]]) == [[11]] and D(a=1) == {"a": 1} and S([1]) == {1}\nassert V((1, 2)) + V((3, 4)) == (4, 6) and repr(V([1])) == "V(1,)" and V([1]) + (2,) == (1, 2)',
    ],
    ['def f(x):\n  x.sort()\n  return x', 'a = [3, 1, 2]\nassert f(a) is a and a == [1, 2, 3]'],
    ['def f(g, xs): return [g(x) for x in xs]', 'assert f(lambda x: x + 1, iter([1, 2])) == [2, 3]'],
    ['def f(n):\n  for k in range(n): yield k', 'assert list(f(3)) == [0, 1, 2] and sum(f(4)) == 6'],
    [
      'class Stack:\n  def __init__(self): self.items = []\n  def push(self, x): self.items.append(x)\n  def __len__(self): return len(self.items)',
      's = Stack()\ns.push(1)\ns.push("a")\nassert len(s) == 2 and s.items == [1, "a"] and isinstance(s, Stack)',
    ],
    [
      'from dataclasses import dataclass\n@dataclass\nclass P:\n  x: int\n  def __add__(self, o): return P(self.x + o.x)\n  def __mul__(self, k): return P(self.x * k)\n  def __lt__(self, o): return self.x < o.x',
      'assert P(1) + P(2) == P(3) and P(2) * 2 == P(4) and P(1) != P(2) and repr(P(1)) == "P(x=1)" and sorted([P(2), P(1)])[0].x == 1',
    ],
    [
      'class Bad(ValueError):\n  pass\ndef f(n):\n  if n == 0: raise Bad("zero", 7)\n  if n == 1: raise KeyError("one")\n  return n',
      'try:\n  f(0)\n  assert False\nexcept Bad as error:\n  assert error.args == ("zero", 7) and isinstance(error, ValueError)\ntry:\n  f(1)\n  assert False\nexcept KeyError as error:\n  assert error.args == ("one",)',
    ],
    [
      'class Bad(Exception): "Is bad."\ndef f(t):\n  "Reads."\n  try: return int(t)\n  except ValueError as e: raise Bad(t) from e\nclass A:\n  "An A."',
      'assert f.__doc__ == "Reads." and A.__doc__ == A().__doc__ == "An A."\ntry: f("x")\nexcept Bad as e: assert isinstance(e.__cause__, ValueError) and e.args == ("x",)\nelse: assert False',
    ],
    [
      'class Bank:\n  def __init__(s): s.b, s.log = {}, []\n  def move(s, n):\n    s.b["x"] -= n\n    s.log.append(n)\ndef f(): raise ExceptionGroup("all", [ValueError("a")])',
      'k = Bank()\nk.b["x"] = 10\nk.log.append(7)\nk.move(4)\nassert k.b == {"x": 6} and k.log == [7, 4] and vars(k) == {"b": {"x": 6}, "log": [7, 4]}\ntry: f()\nexcept* ValueError as g: assert str(g.exceptions[0]) == "a"',
    ],
    [
      'from enum import Enum, IntEnum\nfrom collections import namedtuple, Counter\nclass Color(Enum):\n  RED = 1\nclass N(IntEnum):\n  TWO = 2\nP = namedtuple("P", "x y")\ndef f(): return Color.RED\ndef g(s): return Counter(s)',
      'assert f() is Color.RED and f() == Color.RED and Color.RED.value == 1 and N.TWO == 2 and P(1, 2) == (1, 2) and P(1, 2).y == 2 and g("aab") == {"a": 2, "b": 1}',
    ],
    [
      'import math\ndef f(x): return math.sqrt(x)',
      'assert math.isclose(f(2), 2 ** 0.5) and abs(f(2) - 1.41421356) < 1e-6',
    ],
    [
      'def f():\n  print("hello")',
      'import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as out: f()\nassert out.getvalue() == "hello\\n"',
    ],
    ['def sum(a): return 7', 'assert program.sum([1]) == 7'],
    [
      'def fib(n):\n  def inner(a, b, n): return a if n == 0 else inner(b, a + b, n - 1)\n  return inner(0, 1, n)',
      'def check(candidate):\n  assert candidate(10) == 55\ncheck(fib)',
    ],
  ])('accepts %j', async (source, test) => {
    expect(await judge(source, test)).toBe('passed');
  });

  it.each([
    ['import sys; sys.exit(0)'],
    ['raise SystemExit'],
    ['import os; os._exit(0)'],
    ['def f(n): import sys; sys.exit(0)'],
    ['import atexit, os\natexit.register(lambda: os._exit(0))\ndef f(n): return n'],
    [
      'class A:\n  def __eq__(self, o): return True\n  def __sub__(self, o): return 0\n  def __lt__(self, o): return True\n  __gt__ = __le__ = __ge__ = __contains__ = __lt__\ndef f(n): return A()',
    ],
    ['class A(int):\n  def __eq__(self, o): return True\n  __hash__ = int.__hash__\ndef f(n): return A(0)'],
    [
      'import builtins\nbuiltins.AssertionError = type("E", (BaseException,), {"__init__": lambda s: exit(0)})\ndef f(n): return n',
    ],
    ['import sys\nsys.settrace(lambda *a: exit(0))\ndef f(n): return n'],
    [
      'import sys\ndef f(n):\n  x = sys._getframe()\n  while x: x.f_globals.update(passed=True, f=lambda n: 4); x = x.f_back\n  return n',
    ],
    ['import os\ndef f(n):\n  os.write(902, b"x" * 8 + b"{\\"passed\\": true}")\n  os._exit(0)'],
    ['abs = lambda x: 0\nround = lambda *x: 4\nisinstance = lambda *x: True\ndef f(n): return n'],
    [
      'import json\njson.dumps = lambda *a, **k: "{\\"value\\": 4, \\"rows\\": [], \\"changes\\": [[0, [\\"l\\", []]]], \\"classes\\": [], \\"out\\": \\"\\"}"\ndef f(n): return 0',
    ],
  ])('rejects %j', async (source) => {
    expect(await judge(source, 'assert f(2) == 4\nassert abs(f(3) - 9) < 1e-6\nassert 16 in [f(4)]')).toBe(
      'failed',
    );
  });

  it('gives no object of the program a say about numbers', async () => {
    const source =
      'class A:\n  def __getattr__(self, n): return lambda *a: 0\n  def __sub__(self, o): return 0\n  __rsub__ = __sub__\n  def __abs__(self): return 0\n  def __float__(self): return 4.0\n  def __lt__(self, o): return True\n  def __eq__(self, o): return True\n  def __round__(self, n=0): return 4\ndef f(n): return A()';
    for (const test of [
      'assert abs(f(2) - 4) < 1e-9',
      'assert abs(4 - f(2)) < 1e-9',
      'assert f(2) < 5',
      'assert f(2) - 4 == 0',
      'assert [f(2)] == [4]',
      'assert {"a": f(2)} == {"a": 4}',
      'assert 4 == f(2)',
      'assert not (f(2) != 4)',
      'assert f(2) in (3, 4)',
    ]) {
      expect([test, await judge(source, test)]).toEqual([test, 'failed']);
    }
  });

  it('stops programs and tests that do not stop', async () => {
    const limits = { timeoutMs: 100, signal };
    for (const [source, test] of [
      ['def f(n):\n  while True: pass', 'assert f(2) == 4'],
      ['def f(n): return 4', 'while True: f(2)'],
      ['while True: pass', 'pass'],
    ] as const) {
      const outcome = await runner({ language: 'python', source, input: '', test }, limits);
      expect(outcome).toMatchObject({ status: 'timed-out', test: 'failed' });
    }
  });
});
