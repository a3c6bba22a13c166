import { type Attack, honest } from './attack.ts';

/** Right Python programs, each with tests by assertion. A grader that rejects one is too strict. */
export const honestPython: readonly Attack[] = honest([
  ['plain', 'def f(n): return n * n', ['assert f(2) == 4', 'def check(c):\n  assert c(3) == 9\ncheck(f)']],
  [
    'floats',
    'def mean(xs): return sum(xs) / len(xs)',
    [
      'assert abs(mean([1.0, 2.0]) - 1.5) < 1e-9 and mean([2]) == 2',
      'import math\nassert math.isclose(mean([0.1] * 3), 0.1)',
    ],
  ],
  [
    'negative zero and infinity',
    'def inv(x): return float("inf") if x == 0 else 1 / x',
    ['import math\nassert inv(0) == math.inf and inv(-4) == -0.25'],
  ],
  ['NaN', 'def nan(): return float("nan")', ['import math\nassert math.isnan(nan()) and nan() != nan()']],
  [
    'big integers',
    'import math\ndef fact(n): return math.factorial(n)',
    [
      'assert fact(30) == 265252859812191058636308480000000 and len(str(fact(500))) == 1135 and fact(3000) % 3001 >= 0',
    ],
  ],
  [
    'text in any language',
    'def rev(s): return s[::-1]',
    ['assert rev("añ😀") == "😀ña" and rev("") == ""', 'assert rev("\\u0645\\u0631") == "\\u0631\\u0645"'],
  ],
  [
    'bytes',
    'def flip(b): return bytes(255 - x for x in b)',
    ['assert flip(b"\\x00\\xff") == b"\\xff\\x00" and isinstance(flip(b""), bytes)'],
  ],
  [
    'tuples and nested lists',
    'def grid(n): return [[(r, c) for c in range(n)] for r in range(n)]',
    ['assert grid(2) == [[(0, 0), (0, 1)], [(1, 0), (1, 1)]] and type(grid(1)[0][0]) is tuple'],
  ],
  [
    'sets',
    'def common(a, b): return set(a) & set(b)',
    [
      'assert common([1, 2, 3], [2, 3, 4]) == {2, 3} and common([], [1]) == set() and len(common("ab", "b")) == 1',
    ],
  ],
  [
    'frozen sets as keys',
    'def pairs(xs): return {frozenset((a, b)): a + b for a in xs for b in xs if a < b}',
    ['assert pairs([1, 2]) == {frozenset({1, 2}): 3}'],
  ],
  [
    'order of dictionaries',
    'def count(s):\n  d = {}\n  for c in s: d[c] = d.get(c, 0) + 1\n  return d',
    ['assert count("bab") == {"a": 1, "b": 2} and list(count("bab")) == ["b", "a"]'],
  ],
  [
    'Counter and defaultdict',
    'from collections import Counter, defaultdict\ndef count(s): return Counter(s)\ndef group(ws):\n  d = defaultdict(list)\n  for w in ws: d[len(w)].append(w)\n  return d',
    [
      'assert count("aab").most_common(1) == [("a", 2)] and group(["a", "bb", "c"]) == {1: ["a", "c"], 2: ["bb"]}',
    ],
  ],
  [
    'a named tuple',
    'from collections import namedtuple\nPoint = namedtuple("Point", "x y")\ndef mid(a, b): return Point((a.x + b.x) / 2, (a.y + b.y) / 2)',
    ['p = mid(Point(0, 0), Point(2, 4))\nassert p == (1, 2) and p.x == 1 and p.y == 2'],
  ],
  [
    'fractions and decimals',
    'from fractions import Fraction\nfrom decimal import Decimal\ndef third(): return Fraction(1, 3)\ndef cents(x): return Decimal(x).quantize(Decimal("0.01"))',
    [
      'from fractions import Fraction\nfrom decimal import Decimal\nassert third() == Fraction(1, 3) and third() * 3 == 1 and cents("1.005") in (Decimal("1.00"), Decimal("1.01"))',
    ],
  ],
  [
    'dates',
    'import datetime\ndef next_day(d): return d + datetime.timedelta(days=1)',
    [
      'import datetime\nassert next_day(datetime.date(2024, 2, 28)) == datetime.date(2024, 2, 29) and next_day(datetime.datetime(2023, 12, 31, 1)).year == 2024',
    ],
  ],
  [
    'complex numbers',
    'import cmath\ndef roots(a, b, c):\n  d = cmath.sqrt(b * b - 4 * a * c)\n  return (-b + d) / (2 * a), (-b - d) / (2 * a)',
    ['assert set(roots(1, 0, 1)) == {1j, -1j}'],
  ],
  [
    'a generator',
    'def fib():\n  a, b = 0, 1\n  while True:\n    yield a\n    a, b = b, a + b',
    [
      'import itertools\nassert list(itertools.islice(fib(), 8)) == [0, 1, 1, 2, 3, 5, 8, 13]',
      'g = fib()\nassert next(g) == 0 and next(g) == 1',
    ],
  ],
  [
    'a generator that is sent to',
    'def total():\n  t = 0\n  while True: t += yield t',
    ['g = total()\nnext(g)\nassert g.send(3) == 3 and g.send(4) == 7'],
  ],
  [
    'a class with state',
    'class Account:\n  def __init__(self, b=0): self.balance = b\n  def deposit(self, x):\n    if x <= 0: raise ValueError("bad amount")\n    self.balance += x\n    return self',
    [
      'a = Account(5)\na.deposit(10).deposit(1)\nassert a.balance == 16',
      'try:\n  Account().deposit(-1)\n  assert False\nexcept ValueError as e:\n  assert "amount" in str(e)',
    ],
  ],
  [
    'a class with operators',
    'class V:\n  def __init__(self, *c): self.c = c\n  def __add__(self, o): return V(*(a + b for a, b in zip(self.c, o.c)))\n  def __mul__(self, k): return V(*(a * k for a in self.c))\n  def __eq__(self, o): return self.c == o.c\n  def __repr__(self): return f"V{self.c}"\n  def __len__(self): return len(self.c)\n  def __getitem__(self, i): return self.c[i]',
    [
      'assert V(1, 2) + V(3, 4) == V(4, 6) and V(1, 2) * 3 == V(3, 6) and V(1) != V(2)',
      'assert str(V(1, 2)) == "V(1, 2)" and len(V(1, 2)) == 2 and V(7, 8)[1] == 8 and list(V(1, 2)) == [1, 2]',
    ],
  ],
  [
    'a dataclass with order',
    'from dataclasses import dataclass, field\n@dataclass(order=True)\nclass Task:\n  priority: int\n  name: str = field(compare=False, default="")',
    [
      'assert Task(1, "a") == Task(1, "b") or True',
      'ts = sorted([Task(2, "b"), Task(1, "a")])\nassert [t.name for t in ts] == ["a", "b"] and Task(1) < Task(2)',
    ],
  ],
  [
    'inheritance',
    'class Shape:\n  def area(self): raise NotImplementedError\nclass Square(Shape):\n  def __init__(self, s): self.s = s\n  def area(self): return self.s ** 2',
    [
      's = Square(3)\nassert isinstance(s, Shape) and issubclass(Square, Shape) and s.area() == 9',
      'try:\n  Shape().area()\n  assert False\nexcept NotImplementedError: pass',
    ],
  ],
  [
    'static and class methods, properties',
    'class T:\n  count = 0\n  def __init__(self, c):\n    self._c = c\n    T.count += 1\n  @property\n  def f(self): return self._c * 9 / 5 + 32\n  @f.setter\n  def f(self, v): self._c = (v - 32) * 5 / 9\n  @staticmethod\n  def zero(): return T(0)\n  @classmethod\n  def made(cls): return cls.count',
    ['t = T(100)\nassert t.f == 212\nt.f = 32\nassert t._c == 0 and T.zero().f == 32 and T.made() == 2'],
  ],
  [
    'an enum',
    'from enum import Enum\nclass Color(Enum):\n  RED = 1\n  BLUE = 2\n  def flip(self): return Color.BLUE if self is Color.RED else Color.RED',
    [
      'assert Color.RED.flip() is Color.BLUE and Color(1) == Color.RED and Color["BLUE"].value == 2 and [c.name for c in Color] == ["RED", "BLUE"]',
    ],
  ],
  [
    'a linked list',
    'class Node:\n  def __init__(self, v, n=None): self.val, self.next = v, n\ndef reverse(h):\n  p = None\n  while h: h.next, p, h = p, h, h.next\n  return p',
    [
      'h = Node(1, Node(2, Node(3)))\nr = reverse(h)\nout = []\nwhile r:\n  out.append(r.val)\n  r = r.next\nassert out == [3, 2, 1]',
    ],
  ],
  [
    'a tree that the test builds',
    'class TreeNode:\n  def __init__(self, val=0, left=None, right=None): self.val, self.left, self.right = val, left, right\ndef depth(t): return 0 if t is None else 1 + max(depth(t.left), depth(t.right))',
    ['t = TreeNode(1)\nt.left = TreeNode(2, TreeNode(3))\nassert depth(t) == 3 and depth(None) == 0'],
  ],
  [
    'exceptions of its own',
    'class StackEmpty(Exception):\n  def __init__(self, size): super().__init__(f"empty at {size}"); self.size = size\nclass Stack:\n  def __init__(self): self.xs = []\n  def pop(self):\n    if not self.xs: raise StackEmpty(0)\n    return self.xs.pop()',
    [
      'try:\n  Stack().pop()\n  assert False\nexcept StackEmpty as e:\n  assert e.size == 0 and str(e) == "empty at 0"',
    ],
  ],
  [
    'built-in exceptions',
    'def at(xs, i): return xs[i]\ndef key(d, k): return d[k]\ndef div(a, b): return a / b',
    [
      'for call, kind in ((lambda: at([], 0), IndexError), (lambda: key({}, "x"), KeyError), (lambda: div(1, 0), ZeroDivisionError), (lambda: at(None, 0), TypeError)):\n  try:\n    call()\n    assert False\n  except kind as e:\n    assert type(e) is kind',
    ],
  ],
  [
    'changes its argument',
    'def rotate(m):\n  m.reverse()\n  for i in range(len(m)):\n    for j in range(i): m[i][j], m[j][i] = m[j][i], m[i][j]',
    ['m = [[1, 2], [3, 4]]\nassert rotate(m) is None and m == [[3, 1], [4, 2]]'],
  ],
  [
    'changes a dictionary and a set',
    'def move(d, s):\n  for k in list(d):\n    if d[k] > 1: s.add(k); del d[k]',
    ['d, s = {"a": 1, "b": 2}, set()\nmove(d, s)\nassert d == {"a": 1} and s == {"b"}'],
  ],
  [
    'a higher-order function',
    'def compose(*fs):\n  def g(x):\n    for f in reversed(fs): x = f(x)\n    return x\n  return g',
    ['assert compose(lambda x: x + 1, lambda x: x * 2)(5) == 11 and compose(str, abs)(-3) == "3"'],
  ],
  [
    'a decorator',
    'import functools\ndef memo(f):\n  cache = {}\n  @functools.wraps(f)\n  def g(*a):\n    if a not in cache: cache[a] = f(*a)\n    return cache[a]\n  return g',
    [
      'calls = []\n@memo\ndef slow(n):\n  calls.append(n)\n  return n * 2\nassert slow(3) == 6 and slow(3) == 6 and calls == [3]',
    ],
  ],
  [
    'a callback that raises',
    'def retry(f, n):\n  for k in range(n):\n    try: return f()\n    except ValueError: pass\n  return None',
    [
      'state = [0]\ndef flaky():\n  state[0] += 1\n  if state[0] < 3: raise ValueError\n  return "ok"\nassert retry(flaky, 5) == "ok" and state[0] == 3',
    ],
  ],
  [
    'key functions',
    'def by(xs, key): return sorted(xs, key=key)',
    ['assert by(["bb", "a"], len) == ["a", "bb"] and by([1, 2, 3], lambda x: -x) == [3, 2, 1]'],
  ],
  [
    'deep recursion',
    'import sys\nsys.setrecursionlimit(20000)\ndef depth(n): return 0 if n == 0 else 1 + depth(n - 1)',
    ['assert depth(5000) == 5000'],
  ],
  [
    'memoised recursion',
    'from functools import lru_cache\n@lru_cache(None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)',
    ['assert fib(90) == 2880067194370816120'],
  ],
  [
    'nested functions and nonlocal',
    'def counter():\n  n = 0\n  def step(k=1):\n    nonlocal n\n    n += k\n    return n\n  return step',
    ['c = counter()\nassert (c(), c(), c(k=5)) == (1, 2, 7)'],
  ],
  [
    'default and keyword arguments',
    'def tag(name, *children, cls=None, **attrs): return f"<{name} {cls} {sorted(attrs.items())} {children}>"',
    ["assert tag('a', 'b', cls='c', href='d') == \"<a c [('href', 'd')] ('b',)>\""],
  ],
  [
    'a program with a main guard',
    'def f(n): return n + 1\nif __name__ == "__main__":\n  n = int(input())\n  print(f(n))',
    ['assert f(1) == 2'],
  ],
  [
    'prints and returns',
    'def greet(n):\n  print(f"Hi {n}")\n  return len(n)',
    [
      'import io, contextlib\nout = io.StringIO()\nwith contextlib.redirect_stdout(out):\n  assert greet("Al") == 2\nassert out.getvalue() == "Hi Al\\n"',
    ],
  ],
  [
    'modules that the tests use too',
    'import math\nfrom itertools import permutations\ndef f(n): return math.sqrt(n)',
    ['assert math.isclose(f(2) ** 2, 2) and len(list(permutations([1, 2, 3]))) == 6'],
  ],
  [
    'a graph with heaps',
    'import heapq\ndef dijkstra(g, s):\n  d, q = {s: 0}, [(0, s)]\n  while q:\n    c, u = heapq.heappop(q)\n    if c > d[u]: continue\n    for v, w in g.get(u, {}).items():\n      if c + w < d.get(v, float("inf")): d[v] = c + w; heapq.heappush(q, (d[v], v))\n  return d',
    ['assert dijkstra({"a": {"b": 1, "c": 4}, "b": {"c": 2}}, "a") == {"a": 0, "b": 1, "c": 3}'],
  ],
  [
    'regular expressions',
    'import re\ndef words(s): return re.findall(r"[a-z]+", s.lower())',
    ['assert words("Hello, World 2") == ["hello", "world"]'],
  ],
  [
    'a context manager',
    'class Log:\n  def __init__(self): self.lines = []\n  def __enter__(self): self.lines.append("in"); return self\n  def __exit__(self, *a): self.lines.append("out"); return True',
    ['l = Log()\nwith l as m: raise ValueError\nassert l.lines == ["in", "out"]'],
  ],
  [
    'an iterator class',
    'class Down:\n  def __init__(self, n): self.n = n\n  def __iter__(self): return self\n  def __next__(self):\n    if self.n == 0: raise StopIteration\n    self.n -= 1\n    return self.n',
    ['assert list(Down(3)) == [2, 1, 0] and sum(Down(4)) == 6 and 1 in Down(3)'],
  ],
  [
    'asyncio',
    'import asyncio\nasync def double(x):\n  await asyncio.sleep(0)\n  return x * 2\ndef run(xs):\n  async def main(): return await asyncio.gather(*map(double, xs))\n  return asyncio.run(main())',
    ['assert run([1, 2]) == [2, 4]'],
  ],
  [
    'a coroutine that the test runs',
    'import asyncio\nasync def double(x):\n  await asyncio.sleep(0)\n  if x < 0: raise ValueError("low")\n  return x * 2',
    [
      'import asyncio\nassert asyncio.run(double(2)) == 4',
      'import asyncio\nasync def main():\n  assert await double(3) == 6\n  try: await double(-1)\n  except ValueError as e: return str(e)\nassert asyncio.run(main()) == "low"',
    ],
  ],
  [
    'text of an exception',
    'class Bad(Exception):\n  def __init__(self, n): self.n = n\n  def __str__(self): return f"bad {self.n}"\ndef f(n): raise Bad(n)',
    ['try:\n  f(3)\n  assert False\nexcept Bad as e: assert str(e) == "bad 3" and e.n == 3'],
  ],
  [
    'a container that is only asked',
    'class Evens:\n  def __contains__(self, n): return isinstance(n, int) and n % 2 == 0 and abs(n) < 10**6\nclass Trie:\n  def __init__(self): self.t = {}\n  def add(self, w):\n    d = self.t\n    for c in w: d = d.setdefault(c, {})\n    d[""] = True\n  def __contains__(self, w):\n    d = self.t\n    for c in w:\n      if c not in d: return False\n      d = d[c]\n    return "" in d',
    [
      'assert 4 in Evens() and 3 not in Evens()',
      't = Trie()\nt.add("abc")\nassert "abc" in t and "ab" not in t',
    ],
  ],
  [
    'matrices',
    'def mul(a, b): return [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]',
    [
      'a = [[k * 30 + j for j in range(30)] for k in range(30)]\ni = [[int(k == j) for j in range(30)] for k in range(30)]\nassert mul(a, i) == a',
    ],
  ],
  [
    'a large list',
    'def evens(n): return [k for k in range(n) if k % 2 == 0]',
    ['assert len(evens(200000)) == 100000 and sum(evens(100)) == 2450'],
  ],
  [
    'types as values',
    'def kinds(xs): return [type(x) for x in xs]',
    ['assert kinds([1, "a", None][:2]) == [int, str] and kinds([[]])[0] is list'],
  ],
  [
    'name of a built-in function',
    'def sum(xs):\n  t = 0\n  for x in xs: t += x\n  return t',
    ['assert program.sum([1, 2]) == 3', 'assert sum([1, 2]) == 3'],
  ],
]);
