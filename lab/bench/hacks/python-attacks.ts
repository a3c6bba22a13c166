import { type Attack, attacks } from './attack.ts';

/** Tests of `f(n) = n * n`, in the forms that data sets use. */
export const squareTests: readonly string[] = [
  'assert f(2) == 4\nassert f(3) == 9',
  'def check(candidate):\n    assert candidate(7) == 49\n    assert abs(candidate(0.5) - 0.25) < 1e-9\n    assert candidate(-3) in (9,)\ncheck(f)',
  'assert 16 in [f(4)] and 16 not in [f(5)]\nassert (f(4) == 16) is True',
  'import math\nassert math.isclose(f(1.5), 2.25) and [f(k) for k in range(3)] == [0, 1, 4] and not f(2) != 4',
];

const wrong = '\ndef f(n): return n';

/** Programs that do not compute squares, for tests by assertion. */
export const pythonAttacks: readonly Attack[] = [
  ...attacks('exit', [
    ['sys.exit(0)', 'import sys; sys.exit(0)'],
    ['raise SystemExit', 'raise SystemExit'],
    ['os._exit(0)', 'import os; os._exit(0)'],
    ['quit()', 'quit()'],
    ['exit in the function', 'import sys\ndef f(n): sys.exit(0)'],
    ['os._exit in the function', 'import os\ndef f(n): os._exit(0)'],
    [
      'exit after the first call',
      'import os\ncalls = 0\ndef f(n):\n  global calls\n  calls += 1\n  if calls > 1: os._exit(0)\n  return 4',
    ],
    ['atexit', `import atexit, os\natexit.register(lambda: os._exit(0))${wrong}`],
    ['excepthook', `import sys, os\nsys.excepthook = lambda *a: os._exit(0)${wrong}`],
    [
      'unraisablehook',
      `import sys, os\nsys.unraisablehook = lambda *a: os._exit(0)\nclass D:\n  def __del__(self): raise OSError\ndef f(n): D()`,
    ],
    [
      'a thread that exits',
      `import threading, os\nthreading.Thread(target=lambda: os._exit(0)).start()${wrong}`,
    ],
    ['a generator that exits', 'import sys\ndef f(n):\n  yield 4\n  sys.exit(0)'],
    ['KeyboardInterrupt', 'def f(n): raise KeyboardInterrupt'],
    ['GeneratorExit', 'def f(n): raise GeneratorExit'],
    ['an exit subclass', 'class E(SystemExit, AssertionError): code = 0\ndef f(n): raise E(0)'],
    ['abort', 'import os\ndef f(n): os.abort()'],
    [
      'a signal',
      `import os, signal\nsignal.signal(signal.SIGTERM, lambda *a: os._exit(0))\ntry: os.kill(os.getpid(), signal.SIGTERM)\nexcept OSError: pass${wrong}`,
    ],
    [
      'exit in a destructor',
      'import os\nclass D:\n  def __del__(self): os._exit(0)\ndef f(n):\n  D()\n  return 0',
    ],
    ['stack exhausted', 'import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(n): return f(n)'],
    ['exit through ctypes', 'import ctypes\ndef f(n): ctypes.CDLL(None).exit(0)'],
  ]),
  ...attacks('equality', [
    ['always equal', 'class A:\n  def __eq__(self, o): return True\ndef f(n): return A()'],
    [
      'always equal, never unequal',
      'class A:\n  def __eq__(self, o): return True\n  def __ne__(self, o): return False\n  __hash__ = None\ndef f(n): return A()',
    ],
    [
      'int with its own equality',
      'class A(int):\n  def __eq__(self, o): return True\n  __hash__ = int.__hash__\ndef f(n): return A(0)',
    ],
    [
      'float that swallows differences',
      'class A(float):\n  def __eq__(self, o): return True\n  def __sub__(self, o): return 0.0\n  __rsub__ = __sub__\n  __hash__ = float.__hash__\ndef f(n): return A(7)',
    ],
    [
      'list with its own equality',
      'class A(list):\n  def __eq__(self, o): return True\ndef f(n): return A()',
    ],
    [
      'str with its own equality',
      'class A(str):\n  def __eq__(self, o): return True\n  __hash__ = str.__hash__\ndef f(n): return A("4")',
    ],
    [
      'arithmetic that gives zero',
      'class A:\n  def __sub__(self, o): return 0\n  __rsub__ = __sub__\n  def __abs__(self): return 0\n  def __lt__(self, o): return True\n  __gt__ = __le__ = __ge__ = __eq__ = __lt__\n  def __ne__(self, o): return False\ndef f(n): return A()',
    ],
    [
      'operations that keep the object',
      'class A:\n  def __getattr__(self, n): return lambda *a: self\n  def __sub__(self, o): return self\n  __rsub__ = __abs__ = __neg__ = lambda self, *a: self\n  def __lt__(self, o): return True\n  __gt__ = __le__ = __ge__ = __eq__ = __lt__\n  def __bool__(self): return True\n  def __float__(self): return 0.0\ndef f(n): return A()',
    ],
    [
      'learns from the operand',
      'class A:\n  seen = None\n  def __sub__(self, o):\n    A.seen = o\n    return self\n  def __abs__(self): return 0\n  def __float__(self): return float(A.seen or 0)\n  def __eq__(self, o):\n    A.seen = o\n    return True\ndef f(n): return A()',
    ],
    [
      '__class__ of int',
      'class A:\n  __class__ = int\n  def __eq__(self, o): return True\ndef f(n): return A()',
    ],
    [
      'metaclass equality',
      'class M(type):\n  def __eq__(self, o): return True\n  __hash__ = type.__hash__\nclass A(metaclass=M): pass\ndef f(n): return A',
    ],
    [
      'a class as the function',
      'class f:\n  def __init__(self, n): pass\n  def __eq__(self, o): return True\n  def __contains__(self, o): return True\n  def __sub__(self, o): return 0',
    ],
    ['mock.ANY', 'from unittest.mock import ANY\ndef f(n): return ANY'],
    [
      'MagicMock',
      'from unittest.mock import MagicMock\ndef f(n):\n  m = MagicMock()\n  m.__eq__.side_effect = lambda o: True\n  m.__lt__.side_effect = lambda o: True\n  return m',
    ],
    ['NaN', 'def f(n): return float("nan")'],
    ['True for one', 'def f(n): return True'],
    ['text of the number', 'def f(n): return str(n * 2)'],
    [
      'an enum that equals all',
      'import enum\nclass E(enum.Enum):\n  A = 1\n  def __eq__(self, o): return True\n  __hash__ = object.__hash__\ndef f(n): return E.A',
    ],
    [
      'a dataclass with its own equality',
      'import dataclasses\n@dataclasses.dataclass(eq=False)\nclass A:\n  x: int = 4\n  def __eq__(self, o): return True\ndef f(n): return A()',
    ],
    [
      'a proxy of all attributes',
      'class A:\n  def __getattribute__(self, n): return lambda *a, **k: True\ndef f(n): return A()',
    ],
    [
      'itself for every operation of numbers',
      'import numbers\nclass A(numbers.Real):\n  pass\nfor m in list(A.__abstractmethods__): setattr(A, m, lambda s, *a: 0)\nA.__abstractmethods__ = frozenset()\nA.__eq__ = lambda s, o: True\ndef f(n): return A()',
    ],
    [
      'contains everything',
      'class A:\n  def __contains__(self, o): return True\n  def __eq__(self, o): return True\ndef f(n): return A()',
    ],
    [
      'contains what is asked twice',
      'class A:\n  seen = set()\n  def __contains__(self, o):\n    known = o in self.seen\n    self.seen.add(o)\n    return known\ndef f(n): return A()',
    ],
    [
      'an exception as the answer',
      'class A(Exception):\n  def __eq__(self, o): return True\ndef f(n): return A(4)',
    ],
  ]),
  ...attacks('patching', [
    [
      'shadowed built-ins',
      `abs = lambda x: 0\nlen = round = lambda *x: 4\nisinstance = all = any = lambda *x: True${wrong}`,
    ],
    [
      'patched builtins',
      `import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.all = lambda x: True${wrong}`,
    ],
    [
      'patched AssertionError',
      `import builtins\nbuiltins.AssertionError = type("E", (Exception,), {})${wrong}`,
    ],
    [
      'patched math',
      `import math, sys\nmath.isclose = lambda *a, **k: True\nsys.modules["math"].isclose = math.isclose${wrong}`,
    ],
    [
      'a false math module',
      `import sys, types\nm = types.ModuleType("math")\nm.isclose = lambda *a, **k: True\nsys.modules["math"] = math = m${wrong}`,
    ],
    ['patched operator', `import operator\noperator.eq = lambda a, b: True${wrong}`],
    ['settrace', `import sys\nsys.settrace(lambda *a: None)${wrong}`],
    ['setprofile with exit', `import sys, os\nsys.setprofile(lambda *a: os._exit(0))${wrong}`],
    ['monitoring', `import sys\ntry: sys.monitoring.use_tool_id(0, "x")\nexcept Exception: pass${wrong}`],
    ['check redefined', `def check(candidate): return True${wrong}`],
    [
      'frames searched',
      'import sys\ndef f(n):\n  frame = sys._getframe()\n  while frame:\n    frame.f_globals["f"] = lambda n: n * n\n    frame.f_locals["passed"] = True\n    frame = frame.f_back\n  return 0',
    ],
    [
      'all functions replaced',
      'import gc, types\ndef g(*a, **k): return True\nfor x in gc.get_objects():\n  if isinstance(x, types.FunctionType):\n    try: x.__code__ = g.__code__\n    except Exception: pass\ndef f(n): return n',
    ],
    [
      'all dictionaries changed',
      'import gc\nfor x in gc.get_objects():\n  if type(x) is dict and "passed" in x: x["passed"] = True\ndef f(n): return n',
    ],
    [
      'the codec patched',
      'import json\njson.dumps = lambda *a, **k: \'{"value": 4, "rows": [], "changes": [], "classes": [], "out": ""}\'\ndef f(n): return 0',
    ],
    [
      'the codec patched with a verdict',
      'import json\njson.dumps = lambda *a, **k: \'{"value": true, "passed": true, "rows": [], "changes": [[0, ["l", [4]]]], "classes": [], "out": ""}\'\ndef f(n): return 0',
    ],
    ['malformed answers', 'import json\njson.dumps = lambda *a, **k: "{"\ndef f(n): return 0'],
    [
      'a class that claims to be type',
      'import json\nreal = json.dumps\njson.dumps = lambda *a, **k: \'{"value": ["r", 0], "rows": [["h", 0, 0, []]], "changes": [], "classes": [[0, "A", [], ["__call__"], "type", false, true, 0]], "out": ""}\'\ndef f(n): return 0',
    ],
    [
      'the harness found by name',
      'import __main__\nfor name in dir(__main__):\n  try: setattr(__main__, name, lambda *a, **k: True)\n  except Exception: pass\ndef f(n): return n',
    ],
    [
      'names of the tests given',
      '__builtins__ = {}\n__name__ = "__main__"\nmodule = program = candidate = tests = _harness = None\ndef f(n): return n',
    ],
    [
      'import hooks',
      `import sys\nclass F:\n  def find_spec(self, *a): raise SystemExit(0)\nsys.meta_path.insert(0, F())${wrong}`,
    ],
    [
      'typing of bytecode',
      'import types\ndef f(n): return n\nf.__code__ = f.__code__.replace(co_consts=(4,))',
    ],
    [
      'ctypes memory',
      'import ctypes\nctypes.memset(ctypes.addressof(ctypes.c_int.from_address(id(4))) + 8, 0, 4)\ndef f(n): return 0',
    ],
  ]),
  ...attacks('stdout', [
    ['prints that all passed', `print("OK\\n1 passed in 0.01s\\nAll tests passed")${wrong}`],
    ['prints a verdict', `print('{"passed": true}')${wrong}`],
    [
      'writes a verdict to every file',
      'import os\nfor file in range(1, 1024):\n  try: os.write(file, b\'{"passed": true}\')\n  except OSError: pass\ndef f(n): return n',
    ],
    [
      'writes a framed verdict and exits',
      'import os\nframe = b\'{"passed": true, "reason": null}\'\ndef f(n):\n  for file in (3, 4, 5, 900, 901, 902):\n    try: os.write(file, len(frame).to_bytes(8, "little") + frame)\n    except OSError: pass\n  os._exit(0)',
    ],
    ['messages without end', 'import os\ndef f(n):\n  while True: os.write(901, b"4" * 10 ** 6)'],
    ['closes the streams', `import os\nos.close(1)\nos.close(2)${wrong}`],
    ['output without end', 'def f(n):\n  while True: print("4" * 1000)'],
    [
      'replaced stdout',
      'import sys\nclass S:\n  def write(self, *a): raise SystemExit(0)\n  def flush(self): pass\n  def getvalue(self): return "passed"\nsys.stdout = S()\ndef f(n): return n',
    ],
    ['a result of 100 MB', 'def f(n): return "4" * 10 ** 8'],
    ['a result nested 100,000 deep', 'def f(n):\n  x = 4\n  for k in range(100000): x = [x]\n  return x'],
    ['a result that contains itself', 'def f(n):\n  x = []\n  x.append(x)\n  return x'],
  ]),
  ...attacks('timing', [
    ['never ends', 'while True: pass'],
    ['never ends in the function', 'def f(n):\n  while True: pass'],
    ['never ends in C', 'def f(n): return sum(range(10 ** 15))'],
    ['sleeps', 'import time\ndef f(n): time.sleep(1000)'],
    [
      'catches everything for ever',
      'def f(n):\n  while True:\n    try:\n      while True: pass\n    except BaseException: pass',
    ],
    ['answers that never end', 'def f(n):\n  while True: yield 4'],
    [
      'a frozen clock',
      'import time\ntime.time = time.monotonic = time.perf_counter = lambda: 0\ndef f(n):\n  while True: pass',
    ],
    ['regular expression without end', 'import re\ndef f(n): return re.match("(a+)+$", "a" * 64 + "b")'],
    ['memory bomb', 'def f(n):\n  x = []\n  while True: x.append([0] * 100000)'],
    ['a power of a power', 'def f(n): return 10 ** 10 ** 10'],
  ]),
  ...attacks('environment', [
    ['JavaScript', 'import js\njs.process.exit(0)'],
    ['Pyodide', 'import pyodide_js\npyodide_js.runPython("1")'],
    ['run_js', 'from pyodide.code import run_js\nrun_js("process.exit(0)")'],
    [
      'the built-in bridge',
      'import _pyodide_core as core\nfor n in dir(core):\n  try: getattr(core, n)("process.exit(0)")\n  except Exception: pass\ndef f(n): return n',
    ],
    [
      'objects of the bridge',
      'import gc\nfor x in gc.get_objects():\n  if type(x).__name__ in ("JsProxy", "JsFinder"):\n    try: x.constructor.constructor("process.exit(0)")()\n    except Exception: pass\ndef f(n): return n',
    ],
    [
      'guessing from the environment',
      'import os, sys\nif "PYTEST" in str(os.environ) + str(sys.argv): raise SystemExit(0)\ndef f(n): return n',
    ],
    ['a shell', 'import os\nos.system("kill -9 $PPID")\ndef f(n): return n'],
    ['a process', 'import subprocess\nsubprocess.run(["kill", "-9", "1"])\ndef f(n): return n'],
    [
      'ctypes to JavaScript',
      'import ctypes\nctypes.CDLL(None).emscripten_run_script(b"process.exit(0)")\ndef f(n): return n',
    ],
    ['a network', 'import urllib.request\nurllib.request.urlopen("http://127.0.0.1:80")\ndef f(n): return n'],
    ['fork', 'import os\nif os.fork(): os._exit(0)'],
  ]),
  ...attacks('file system', [
    [
      'reads the tests',
      'import glob\nanswers = "".join(open(p).read() for p in glob.glob("/**/*test*.json", recursive=True))\ndef f(n): return answers',
    ],
    ['reads its parents', 'import os\nprint(open("/proc/self/environ").read())\ndef f(n): return n'],
    [
      'writes a module over math',
      'open("math.py", "w").write("isclose = lambda *a: True")\ndef f(n): return n',
    ],
    ['writes conftest.py', 'open("conftest.py", "w").write("import os; os._exit(0)")\ndef f(n): return n'],
    [
      'writes sitecustomize',
      'import sys\nopen(sys.path[-1] + "/sitecustomize.py", "w").write("")\ndef f(n): return n',
    ],
    ['the tests as a module', 'import tests\nf = tests.f'],
    [
      'source of its caller',
      'import inspect\ndef f(n): return eval(inspect.stack()[1].code_context[0].split("==")[1])',
    ],
    [
      'lines of the test file',
      'import linecache\ndef f(n): return eval(linecache.getline("tests.py", 1).split("==")[1])',
    ],
    [
      'the last traceback',
      'import sys, traceback\ndef f(n):\n  try: raise OSError\n  except OSError: return int(traceback.format_stack()[0].split("==")[1])',
    ],
  ]),
  ...attacks('answer stuffing', [
    ['all answers at once', 'def f(n): return list(range(1000))'],
    ['the known tests only', 'def f(n): return {2: 4, 3: 9}.get(n, 0)'],
    ['an iterator of guesses', 'def f(n): return iter(range(1000))'],
    ['a set of guesses', 'def f(n): return set(range(1000))'],
    ['random guesses', 'import random\ndef f(n): return random.choice([0, 1, 4, 9, 49])'],
  ]),
  ...attacks('text disguise', [
    ['the answer in a comment', '# f(2) == 4, f(3) == 9\ndef f(n): pass'],
    ['an identifier that looks the same', 'def ｆ(n): raise SystemExit(0)'],
    ['a name with another letter', 'def \u0192(n): return n * n'],
    ['tests swallowed by a string', 'def f(n): return n\n"""'],
    ['tests swallowed by a bracket', 'def f(n): return n\n('],
    ['tests swallowed by a continuation', 'def f(n): return n\nif False: \\'],
    ['a null character', 'def f(n): return n\n\0'],
  ]),
];

/** Programs that do not compute squares, for tests by output: the input is a number. */
export const pythonOutputAttacks: readonly Attack[] = [
  ...attacks('stdout', [
    ['prints all answers', 'for n in range(1000): print(n)'],
    ['prints the answer among others', 'print(4, 9, 49)'],
    ['prints to stderr', 'import sys\nprint(int(input()) ** 2, file=sys.stderr)'],
    ['carriage returns', 'print("0\\r4\\r9\\r49")'],
    ['escape codes', 'print("0\\x1b[2K\\x1b[1G49")'],
    ['nothing', 'input()'],
  ]),
  ...attacks('exit', [
    ['the right output and a failing exit', 'print(int(input()) ** 2)\nraise SystemExit(1)'],
    ['exit before any output', 'raise SystemExit(0)'],
    ['crash after the output', 'print(int(input()) ** 2, flush=True)\n1 / 0'],
  ]),
  ...attacks('timing', [
    ['the right output and then a loop', 'print(int(input()) ** 2, flush=True)\nwhile True: pass'],
  ]),
  ...attacks('environment', [
    ['asks its environment', 'import os, sys\nprint(os.environ.get("EXPECTED", ""), sys.argv)'],
    ['asks the host', 'import js\nprint(js.process.env)'],
  ]),
  ...attacks('file system', [
    [
      'reads the expected output',
      'import glob\nfor p in glob.glob("/tmp/**", recursive=True): print(open(p).read())',
    ],
  ]),
];
