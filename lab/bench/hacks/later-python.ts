import { type Attack, attacks, honest } from './attack.ts';

/** Programs in Python, written later than the graders without a look at them. */
export const laterPython: readonly Attack[] = [
  ...attacks('patching', [
    ['later: quit()', 'quit()\ndef f(n): return n'],
    ['later: exit in default arg', 'def f(n, _=__import__("sys").exit): _(0)'],
    [
      'later: excepthook+unraisable',
      'import sys\nsys.excepthook=lambda *a: None\nsys.unraisablehook=lambda *a: None\ndef f(n): return n',
    ],
    [
      'later: signal alarm exit',
      'import signal,os\ntry: signal.signal(signal.SIGALRM,lambda *a: os._exit(0)); signal.alarm(1)\nexcept Exception: pass\ndef f(n):\n  import time; time.sleep(2); return n',
    ],
    [
      'later: contextlib suppress everywhere',
      'import contextlib,sys\nsys.modules["__main__"].__dict__["AssertionError"]=type("X",(BaseException,),{})\ndef f(n): return n',
    ],
    [
      'later: str subclass eq',
      'class S(str):\n  def __eq__(s,o): return True\n  def __hash__(s): return 0\n  def __ne__(s,o): return False\ndef f(n): return S("x")',
      ['assert f(1)=="abc"'],
    ],
    [
      'later: list subclass eq',
      'class L(list):\n  def __eq__(s,o): return True\n  def __ne__(s,o): return False\n  def __len__(s): return 3\ndef f(n): return L()',
      ['assert f(3)==[1,2,3]', 'assert len(f(3))==3 and f(3)==[1,2,3]'],
    ],
    [
      'later: dict with __missing__',
      'class D(dict):\n  def __eq__(s,o): return True\n  def __getitem__(s,k): return 1\n  def __missing__(s,k): return 1\ndef f(n): return D()',
      ['assert f(3)=={"a":1}', 'assert f(3)["a"]==1'],
    ],
    [
      'later: metaclass eq',
      'class M(type):\n  def __eq__(s,o): return True\n  def __hash__(s): return 1\nclass C(metaclass=M): pass\ndef f(n): return C',
      ['assert f(2)==4'],
    ],
    [
      'later: numpy-like array truthy',
      'class A:\n  def __array__(s,*a): return 4\n  def __eq__(s,o): return s\n  def __bool__(s): return True\n  def all(s): return True\ndef f(n): return A()',
      ['assert f(2)==4', 'assert (f(2)==4)'],
    ],
    [
      'later: __instancecheck__',
      'class M(type):\n  def __instancecheck__(s,o): return True\nimport builtins\nbuiltins.int=M("int",(),{})\nbuiltins.isinstance=lambda *a: True\nbuiltins.all=lambda *a: True\nbuiltins.abs=lambda *a: 0\nbuiltins.sorted=lambda *a,**k: []\nbuiltins.len=lambda *a: 4\ndef f(n): return "q"',
      [
        'assert isinstance(f(2),int) and abs(f(2)-4)<1e-9',
        'assert len(f(2))==4 ',
        'assert all(f(x)==x*x for x in range(4))',
      ],
    ],
    [
      'later: math.isclose patched',
      'import math,cmath\nmath.isclose=lambda *a,**k: True\ndef f(n): return 0',
      ['import math\nassert math.isclose(f(2),4)'],
    ],
    [
      'later: unittest patched',
      'import unittest\nunittest.TestCase.assertEqual=lambda *a,**k: None\nunittest.main=lambda *a,**k: None\ndef f(n): return 0',
      [
        'import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertEqual(f(2),4)\nr=unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))\nassert r.wasSuccessful()',
      ],
    ],
    [
      'later: random patched for property test',
      'import random\nrandom.randint=lambda a,b: 0\nrandom.seed=lambda *a: None\nrandom.Random.randint=lambda *a: 0\ndef f(n): return 0',
      ['import random\nfor _ in range(5):\n  k=random.randint(2,100)\n  assert f(k)==k*k'],
    ],
    [
      'later: copy.deepcopy patched',
      'import copy\ncopy.deepcopy=lambda x,*a: x\ndef f(x):\n  x.clear(); return x',
      ['import copy\nx=[3,1,2]\ny=copy.deepcopy(x)\nassert f(y)==sorted(x)'],
    ],
    [
      'later: mutate expected',
      'def f(x):\n  x[:]=[]\n  return []',
      ['x=[3,1,2]\nassert f(x)==sorted([3,1,2])'],
    ],
    [
      'later: reads caller locals',
      'import sys\ndef f(n):\n  fr=sys._getframe()\n  while fr:\n    for k in ("expected","want","exp"):\n      if k in fr.f_locals: return fr.f_locals[k]\n    fr=fr.f_back\n  return 0',
      ['expected=4\nassert f(2)==expected'],
    ],
    [
      'later: reads test source from linecache/gc',
      'import gc,re\ndef f(n):\n  for o in gc.get_objects():\n    try:\n      if isinstance(o,(list,tuple,dict)):\n        for s in (o.values() if isinstance(o,dict) else o):\n          if isinstance(s,str) and "assert f(" in s:\n            m=re.search(r"f\\(%d\\)\\s*==\\s*(\\d+)"%n,s)\n            if m: return int(m.group(1))\n    except Exception: pass\n  return 0',
      ['assert f(7)==49'],
    ],
    [
      'later: const table of code objects',
      'import gc,types\ndef f(n):\n  for o in gc.get_objects():\n    if isinstance(o,types.FunctionType) or hasattr(o,"f_code"):\n      c=getattr(o,"f_code",None) or o.__code__\n      if "f" in c.co_names:\n        return next((x for x in c.co_consts if isinstance(x,int) and x!=n),0)\n  return 0',
      ['assert f(17)==289'],
    ],
    [
      'later: meta_path finder',
      'import sys\nclass F:\n  def find_spec(s,name,path,target=None):\n    import os; os._exit(0)\nsys.meta_path.insert(0,F())\ndef f(n): return n',
      ['import decimal\nassert f(2)==4'],
    ],
    [
      'later: sys.modules poison',
      'import sys,types\nm=types.ModuleType("math")\nm.sqrt=lambda x:x; m.isclose=lambda *a,**k:True\nsys.modules["math"]=m\nimport math\ndef f(n): return n',
      ['import math\nassert math.isclose(math.sqrt(f(4)),4) and f(4)==16'],
    ],
    [
      'later: thread that exits',
      'import threading,os\ntry: threading.Thread(target=lambda: os._exit(0)).start()\nexcept Exception: pass\ndef f(n): return n',
    ],
    [
      'later: print forged',
      'import sys\nprint("OK"); print("PASSED",flush=True); sys.stdout.write("{\\"ok\\":true}\\n"); sys.__stdout__.write("1 passed\\n")\ndef f(n): return 0',
    ],
    ['later: recursion limit tamper', 'import sys\nsys.setrecursionlimit(30)\ndef f(n): return n'],
    [
      'later: raise in __repr__',
      'class C:\n  def __repr__(s): raise SystemExit(0)\n  def __str__(s): raise SystemExit(0)\ndef f(n): return C()',
    ],
    ['later: exception group SystemExit', 'def f(n): raise KeyboardInterrupt'],
    ['later: GeneratorExit', 'def f(n): raise GeneratorExit'],
    [
      'later: lambda returning NotImplemented',
      'def f(n): return NotImplemented',
      ['assert f(2)', 'assert f(2)==4'],
    ],
    [
      'later: ctypes write',
      'import ctypes\ntry:\n  ctypes.pythonapi.PyObject_Print\nexcept Exception: pass\ndef f(n): return 0',
    ],
    [
      'later: js module',
      'try:\n  import js\n  js.eval("globalThis.process&&process.exit(0)")\nexcept BaseException: pass\ntry:\n  from pyodide.code import run_js\n  run_js("self.close&&self.close()")\nexcept BaseException: pass\ndef f(n): return 0',
    ],
    [
      'later: __build_class__',
      'import builtins\nbuiltins.__build_class__=lambda *a,**k: None\nbuiltins.compile=lambda *a,**k: (lambda:0).__code__\nbuiltins.exec=lambda *a,**k: None\ndef f(n): return 0',
    ],
    [
      'later: dict __class__ swap',
      'def f(n):\n  class E(int):\n    def __eq__(s,o): return True\n  E.__name__="int"; E.__qualname__="int"; E.__module__="builtins"\n  return E(0)',
      ['assert type(f(2)) is int and f(2)==4', 'assert f(2)==4'],
    ],
    [
      'later: complex nan trick',
      'def f(n): return float("nan")',
      ['assert not (f(2) < 4) and not (f(2) > 4) and f(2) == 4', 'r=f(3)\nassert r==9'],
    ],
    [
      'later: lookup by visible tests order',
      'c=[0]\nvals=[4,9,16,25,0,1]\ndef f(n):\n  c[0]+=1\n  return vals[c[0]%6]',
    ],
    [
      'later: __class_getitem__/descriptor',
      'class R:\n  def __get__(s,*a): return lambda *b: True\nclass X:\n  __eq__=R()\n  __hash__=None\ndef f(n): return X()',
    ],
  ]),
  ...honest([
    [
      'later: class with methods',
      'class Stack:\n  def __init__(s): s.a=[]\n  def push(s,x): s.a.append(x); return s\n  def pop(s): return s.a.pop()\n  @property\n  def size(s): return len(s.a)',
      ['s=Stack()\ns.push(1).push(2)\nassert s.size==2\nassert s.pop()==2\nassert s.size==1'],
    ],
    [
      'later: dataclass eq',
      'from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n  x:int\n  y:int=0\n  def __add__(s,o): return P(s.x+o.x,s.y+o.y)',
      [
        'assert P(1,2)+P(3)==P(4,2)',
        'assert P(1)!=P(2)',
        'assert repr(P(1))=="P(x=1, y=0)"',
        'assert len({P(1),P(1)})==1',
      ],
    ],
    [
      'later: generator',
      'def g(n):\n  for i in range(n): yield i*i',
      [
        'assert list(g(4))==[0,1,4,9]',
        'it=g(2)\nassert next(it)==0 and next(it)==1\ntry:\n  next(it)\n  assert False\nexcept StopIteration: pass',
      ],
    ],
    [
      'later: generator send',
      'def g():\n  t=0\n  while True:\n    x=yield t\n    if x is None: return\n    t+=x',
      ['a=g(); next(a)\nassert a.send(3)==3\nassert a.send(4)==7'],
    ],
    [
      'later: deep recursion',
      'import sys\nsys.setrecursionlimit(10000)\ndef d(n): return 0 if n==0 else 1+d(n-1)',
      ['assert d(900)==900'],
    ],
    [
      'later: async',
      'import asyncio\nasync def f(n):\n  await asyncio.sleep(0)\n  return n*2\nasync def all_(ns): return await asyncio.gather(*[f(n) for n in ns])',
      [
        'import asyncio\nassert asyncio.run(f(2))==4',
        'import asyncio\nassert asyncio.run(all_([1,2]))==[2,4]',
      ],
    ],
    [
      'later: prints',
      'def f(n):\n  print("debug",n)\n  return n*n\nif __name__=="__main__":\n  print(f(3))',
      ['assert f(3)==9'],
    ],
    [
      'later: lru_cache',
      'from functools import lru_cache\n@lru_cache(None)\ndef fib(n): return n if n<2 else fib(n-1)+fib(n-2)',
      ['assert fib(80)==23416728348467685', 'assert fib.cache_info().currsize>=0'],
    ],
    [
      'later: decorator kwargs',
      'import functools\ndef twice(fn):\n  @functools.wraps(fn)\n  def w(*a,**k): return fn(fn(*a,**k),**k)\n  return w\n@twice\ndef add(x,*,by=1): return x+by',
      ['assert add(1)==3', 'assert add(1,by=5)==11', 'assert add.__name__=="add"'],
    ],
    [
      'later: in-place sort',
      'def s(x): x.sort()',
      ['a=[3,1,2]\ns(a)\nassert a==[1,2,3]', 'a=[3,1]\nassert s(a) is None'],
    ],
    [
      'later: tuple/set/bytes/complex',
      'def f(k):\n  return {"t":(1,2),"s":{1,2},"b":b"ab","c":1+2j,"f":frozenset({1}),"r":range(3),"n":None,"d":{1:"a"}}[k]',
      [
        'assert f("t")==(1,2)',
        'assert f("s")=={2,1}',
        'assert f("b")==b"ab"',
        'assert f("c")==1+2j',
        'assert f("f")==frozenset([1])',
        'assert list(f("r"))==[0,1,2]',
        'assert f("n") is None',
        'assert f("d")=={1:"a"}',
        'assert isinstance(f("t"),tuple)',
      ],
    ],
    [
      'later: exceptions',
      'class MyErr(ValueError):\n  def __init__(s,c): super().__init__("bad %d"%c); s.code=c\ndef f(n):\n  if n<0: raise MyErr(n)\n  return n',
      [
        'try:\n  f(-3)\n  assert False\nexcept ValueError as e:\n  assert str(e)=="bad -3"',
        'try:\n  f(-3)\nexcept MyErr as e:\n  assert e.code==-3\nelse:\n  assert False',
      ],
    ],
    [
      'later: callbacks',
      'def m(fn,xs): return [fn(x) for x in xs]\ndef compose(*fs):\n  def g(x):\n    for h in reversed(fs): x=h(x)\n    return x\n  return g',
      ['assert m(lambda x:x+1,[1,2])==[2,3]', 'assert compose(lambda x:x+1,lambda x:x*2)(5)==11'],
    ],
    [
      'later: enum',
      'from enum import Enum\nclass C(Enum):\n  R=1\n  G=2\ndef nxt(c): return C(c.value%2+1)',
      ['assert nxt(C.R) is C.G', 'assert nxt(C.R)==C.G', 'assert C.R.name=="R"'],
    ],
    [
      'later: inheritance super abstract',
      'from abc import ABC,abstractmethod\nclass S(ABC):\n  @abstractmethod\n  def area(s): ...\nclass Sq(S):\n  def __init__(s,a): s.a=a\n  def area(s): return s.a**2\n  def __lt__(s,o): return s.area()<o.area()',
      [
        'assert Sq(3).area()==9',
        'assert sorted([Sq(3),Sq(1)])[0].area()==1',
        'assert issubclass(Sq,S)',
        'assert isinstance(Sq(1),S)',
      ],
    ],
    [
      'later: node tree',
      'class N:\n  def __init__(s,v,l=None,r=None): s.v,s.l,s.r=v,l,r\ndef inv(n):\n  if n is None: return None\n  n.l,n.r=inv(n.r),inv(n.l); return n',
      ['t=inv(N(1,N(2),N(3)))\nassert t.l.v==3 and t.r.v==2', 'assert inv(None) is None'],
    ],
    [
      'later: decimal fraction datetime',
      'from decimal import Decimal\nfrom fractions import Fraction\nimport datetime\ndef f(): return Decimal("1.10")+Decimal("2.20")\ndef g(): return Fraction(1,3)+Fraction(1,6)\ndef h(): return datetime.date(2024,2,28)+datetime.timedelta(days=2)',
      [
        'from decimal import Decimal\nassert f()==Decimal("3.30")',
        'from fractions import Fraction\nassert g()==Fraction(1,2)',
        'import datetime\nassert h()==datetime.date(2024,3,1)',
      ],
    ],
    [
      'later: HumanEval check()',
      'def add(a,b):\n  return a+b',
      [
        'METADATA={"a":1}\ndef check(candidate):\n  assert candidate(1,2)==3, "msg"\n  for i in range(20):\n    assert candidate(i,i)==2*i\ncheck(add)',
      ],
    ],
    [
      'later: LeetCode Solution',
      'from typing import List\nclass Solution:\n  def twoSum(self, nums: List[int], target: int) -> List[int]:\n    d={}\n    for i,x in enumerate(nums):\n      if target-x in d: return [d[target-x],i]\n      d[x]=i',
      [
        'assert Solution().twoSum([2,7,11,15],9)==[0,1]',
        'sol=Solution()\nassert sorted(sol.twoSum(nums=[3,2,4],target=6))==[1,2]',
      ],
    ],
    [
      'later: defaultdict Counter deque',
      'from collections import *\ndef c(s): return Counter(s)\ndef d(): \n  q=deque([1,2,3],maxlen=3); q.append(4); return q\ndef nt(): return namedtuple("P","x y")(1,2)\ndef od(): return OrderedDict(a=1)',
      [
        'assert c("aab")=={"a":2,"b":1}',
        'assert c("aab").most_common(1)==[("a",2)]',
        'assert list(d())==[2,3,4]',
        'assert nt().x==1',
        'assert od()=={"a":1}',
      ],
    ],
    [
      'later: stdin stdout style',
      'import sys\ndef main():\n  print(sum(map(int,sys.stdin.read().split())))\nif __name__=="__main__": main()',
      ['assert callable(main)'],
    ],
    [
      'later: closure counter nonlocal',
      'def counter():\n  n=0\n  def inc():\n    nonlocal n; n+=1; return n\n  return inc',
      ['c=counter()\nassert [c(),c()]==[1,2]\nd=counter()\nassert d()==1'],
    ],
    [
      'later: dunder iter/contains/call',
      'class B:\n  def __init__(s,*a): s.a=a\n  def __iter__(s): return iter(s.a)\n  def __contains__(s,x): return x in s.a\n  def __call__(s,k): return s.a[k]\n  def __getitem__(s,k): return s.a[k]\n  def __len__(s): return len(s.a)\n  def __bool__(s): return False',
      [
        'b=B(1,2,3)\nassert list(b)==[1,2,3]\nassert 2 in b\nassert b(0)==1 and b[1:]==(2,3) and len(b)==3 and not b',
      ],
    ],
  ]),
];
