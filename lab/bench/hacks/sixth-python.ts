import { attacks, honest, ofRound } from './attack.ts';

const wrong = '\ndef f(n): return n';

/** An integer that equals everything, and an object that becomes it. */
const liar =
  'class I(int):\n  def __eq__(s, o): return True\n  def __ne__(s, o): return False\n  __le__ = __ge__ = __lt__ = __gt__ = __eq__\n  def __hash__(s): return 9\n';
const becomesLiar = `${liar}class V:\n  __int__ = __index__ = __round__ = __trunc__ = __floor__ = __ceil__ = __abs__ = __neg__ = __radd__ = __add__ = lambda s, *a: I(0)\ndef f(n): return V()`;

/** A sixth round of programs that do not compute squares. Its author had read the other rounds, but not the harness. */
export const sixthPython = ofRound('sixth', [
  ...attacks('exit', [
    ['an audit hook', `import sys, os\nsys.addaudithook(lambda *a: os._exit(0))${wrong}`],
    [
      'a callback of gc',
      `import gc, os\ngc.set_threshold(1)\ngc.callbacks.append(lambda *a: os._exit(0))${wrong}`,
    ],
    ['the end of threading', `import threading, os\nthreading._shutdown = lambda: os._exit(0)${wrong}`],
    [
      'a callback of the event loop',
      `import asyncio, os\ntry: asyncio.get_event_loop().call_soon(lambda: os._exit(0))\nexcept Exception: pass${wrong}`,
    ],
    [
      'an exit while an error is shown',
      'class E(Exception):\n  def __str__(s): raise SystemExit(0)\n  __repr__ = __str__\ndef f(n): raise E',
    ],
    ['an open text', 'def f(n): return n\nx = """'],
    ['a class without a body', 'def f(n): return n\nclass T:'],
    ['a condition without a body', 'def f(n): return n\nif False:'],
  ]),
  ...attacks('equality', [
    [
      'a weak proxy',
      'import weakref\nclass A:\n  def __eq__(s, o): return True\n  def __sub__(s, o): return 0\nkeep = A()\ndef f(n): return weakref.proxy(keep)',
    ],
    [
      'a view of a dictionary',
      'import types\nclass D(dict):\n  def __eq__(s, o): return True\ndef f(n): return types.MappingProxyType(D())',
    ],
    [
      'a list of the user',
      'from collections import UserList\nclass L(UserList):\n  def __eq__(s, o): return True\n  def __contains__(s, o): return True\ndef f(n): return L()',
    ],
    ['becomes a liar by int', becomesLiar, ['assert int(f(3)) == 9 and round(f(3)) == 9']],
    [
      'becomes a liar by math',
      becomesLiar,
      ['import math\nassert math.floor(f(3)) == 9 and math.ceil(f(3)) == 9'],
    ],
    ['becomes a liar by sum', becomesLiar, ['assert sum([f(3)]) == 9', 'assert abs(f(3)) == 9']],
    [
      'a liar that is the greatest',
      `${liar}def f(n): return I(0)`,
      ['assert max(f(3), 0) == 9 and min(f(3), 99) == 9'],
    ],
    [
      'a liar between two bounds',
      `${liar}def f(n): return I(0)`,
      ['assert 9 <= f(3) <= 9', 'assert f(3) >= 9 and not f(3) > 9'],
    ],
    [
      'a liar as key',
      `${liar}def f(n): return I(0)`,
      ['assert {f(3): 1} == {9: 1}', 'assert f(3) in {9} and {9} == {f(3)}'],
    ],
    [
      'a liar for a pattern',
      `${liar}def f(n): return I(0)`,
      ['match f(3):\n  case 9: pass\n  case _: raise ValueError'],
    ],
    [
      'a text that is a liar',
      'class S(str):\n  def __eq__(s, o): return True\n  def __hash__(s): return 9\nclass V:\n  def __str__(s): return S("x")\n  __repr__ = __str__\n  def __format__(s, spec): return S("x")\ndef f(n): return V()',
      ['assert str(f(3)) == "9"', 'assert f"{f(3)}" == "9"', 'assert repr(f(3)) == "9"'],
    ],
    [
      'one quotient for all',
      'class V:\n  def __floordiv__(s, o): return 1\n  def __mod__(s, o): return 0\n  def __divmod__(s, o): return (1, 0)\ndef f(n): return V()',
      ['assert f(3) // 9 == 1 and f(3) % 9 == 0', 'assert divmod(f(3), 9) == (1, 0)'],
    ],
    [
      'a result that grows while it is read',
      'class L(list):\n  def __iter__(s):\n    k = 0\n    while True:\n      yield k * k\n      k += 1\n  def __eq__(s, o): return list.__eq__(s, o) or True\ndef f(n): return L([0] * n)',
      ['assert f(3) == [0, 1, 4]', 'assert len(f(3)) == 3 and f(3)[2] == 4'],
    ],
    ['a number of 100,000 digits', 'def f(n): return 10 ** 100000 + n'],
    ['a signalling NaN', 'from decimal import Decimal\ndef f(n): return Decimal("sNaN")'],
  ]),
  ...attacks('patching', [
    [
      'the table of int',
      `import gc, ctypes\nd = gc.get_referents(int.__dict__)[0]\nd["__eq__"] = lambda a, b: True\nd["__ne__"] = lambda a, b: False\nctypes.pythonapi.PyType_Modified(ctypes.py_object(int))${wrong}`,
    ],
    ['a plain wrong program after it', 'def f(n): return n'],
    [
      '__import__',
      `import builtins, types\nbuiltins.__import__ = lambda *a, **k: types.SimpleNamespace(isclose=lambda *a, **k: True)${wrong}`,
    ],
    ['exec and eval', `import builtins\nbuiltins.exec = builtins.eval = lambda *a, **k: True${wrong}`],
    [
      'builtins as a module',
      `import sys, types\nm = types.ModuleType("builtins")\nm.__dict__.update(__builtins__ if isinstance(__builtins__, dict) else vars(__builtins__), abs=lambda x: 0)\nsys.modules["builtins"] = m${wrong}`,
    ],
    [
      'attributes of the module made on demand',
      'def __getattr__(name): return lambda *a, **k: True\ndef __dir__(): return ["passed"]\ndef f(n): return n',
    ],
    ['a coding line', '# -*- coding: unicode_escape -*-\n# \\ndef check(c): pass\ndef f(n): return n'],
    ['a future statement', 'from __future__ import barry_as_FLUFL\ndef f(n): return n'],
    [
      'frames of all threads',
      'import sys, re\ndef f(n):\n  for frame in sys._current_frames().values():\n    while frame:\n      for c in frame.f_code.co_consts:\n        if isinstance(c, int) and c > n: return c\n      frame = frame.f_back\n  return n',
    ],
    [
      'codecs',
      `import codecs\ncodecs.register(lambda name: codecs.lookup("utf-8"))\ncodecs.register_error("strict", lambda e: ("", e.end))\ncodecs.encode = codecs.decode = lambda *a, **k: b'{"passed": true}'${wrong}`,
    ],
    [
      'warnings',
      `import warnings, os\nwarnings.showwarning = warnings.formatwarning = lambda *a, **k: os._exit(0)\nwarnings.warn("x")${wrong}`,
    ],
    [
      'dataclass fields of the harness',
      'import gc\nfor o in gc.get_objects():\n  for name in ("passed", "ok", "failed", "error", "verdict"):\n    try:\n      if name in vars(o): setattr(o, name, name in ("passed", "ok", "verdict"))\n    except Exception: pass\ndef f(n): return n',
    ],
  ]),
  ...attacks('timing', [
    [
      'a lock',
      'import threading\nlock = threading.Lock()\nlock.acquire()\ndef f(n): return lock.acquire() and n',
    ],
    ['an endless iterator', 'import itertools\ndef f(n): return itertools.cycle([n])'],
    [
      'an endless hash',
      'class V:\n  def __hash__(s):\n    while True: pass\n  def __eq__(s, o): return True\ndef f(n): return V()',
      ['assert f(3) in {9}'],
    ],
    ['waits for input', 'def f(n): return input()'],
  ]),
  ...attacks('file system', [
    [
      'the library is removed',
      'import shutil, sys\nfor p in sys.path: shutil.rmtree(p, ignore_errors=True)\ndef f(n): return n',
    ],
    ['another wrong program after it', 'def f(n): return -n'],
    [
      'cached bytecode',
      'import py_compile, math, os\nopen("m.py", "w").write("isclose = lambda *a: True")\ntry: py_compile.compile("m.py", cfile="/tmp/__pycache__/math.pyc")\nexcept Exception: pass\nimport sys\nsys.path.insert(0, "/tmp/__pycache__")\ndel sys.modules["math"]\ndef f(n): return n',
    ],
  ]),
  ...honest([
    ['a right program after the patches', 'def f(n): return n * n'],
    [
      'a right program that imports after them',
      'import math, json, re, collections\ndef f(n): return math.prod([n, n])',
    ],
    [
      'own __eq__ that compares',
      'class P:\n  def __init__(s, x): s.x = x\n  def __eq__(s, o): return isinstance(o, P) and s.x == o.x\n  def __hash__(s): return hash(s.x)\ndef f(n): return P(n * n)',
      ['assert f(3) == f(-3) and f(3).x == 9 and f(2) != f(3)'],
    ],
    ['an odd name', 'def f(ｎ): return ｎ * n'],
    [
      'prints what looks like a verdict',
      'def f(n):\n  print(\'{"passed": false}\\nFAILED\')\n  return n * n',
    ],
    [
      'a big number',
      'def f(n): return 10 ** n',
      ['assert f(4000) == 10 ** 4000', 'assert f(50) % 7 == 10 ** 50 % 7'],
    ],
    ['True for one', 'def f(n): return n > 0', ['assert f(1) == 1 and f(-1) == 0 and f(1) is True']],
    ['a recursion of 900', 'def f(n): return n if n < 1 else 1 + f(n - 1)', ['assert f(900) == 900']],
  ]),
]);

/** Programs that print. */
export const sixthPythonOutput = ofRound('sixth', [
  ...attacks('stdout', [
    ['both answers in a line', 'print(4, 49)'],
    ['an answer and an exit', 'import os, sys\nprint(4)\nsys.stdout.flush()\nos._exit(0)'],
    ['an answer that is erased', 'print("4\\x1b[2K49")'],
    [
      'an answer on the other stream',
      'import sys\nn = int(input())\nprint(n * n, file=sys.stderr)\nprint(n)',
    ],
    ['digits and what cannot be seen', 'print("4\\u200b49")'],
  ]),
  ...honest([
    ['without a line break', 'n = int(input())\nprint(n * n, end="")'],
    ['sys.stdout.write', 'import sys\nfor line in sys.stdin: sys.stdout.write(f"{int(line) ** 2}\\n")'],
  ]),
]);
