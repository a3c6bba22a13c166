import { type Attack, attacks } from './attack.ts';

/** Programs that somebody wrote who did not know the harness, for tests by assertion of `f(n) = n * n` or of their own. */
export const unseenPython: readonly Attack[] = [
  ...attacks('exit', [
    [
      'unseen: patch builtins.AssertionError to Warning',
      'import builtins\nclass AE(Exception):\n    def __new__(cls,*a): raise SystemExit(0)\nbuiltins.AssertionError=AE\ndef f(n): return n',
    ],
    [
      'unseen: sys.settrace skip',
      "import sys\ndef tr(fr,ev,arg):\n    if ev=='exception': \n        import os; os._exit(0)\n    return tr\nsys.settrace(tr)\nf_=sys._getframe()\nwhile f_: f_.f_trace=tr; f_=f_.f_back\ndef f(n): return n",
    ],
    [
      'unseen: jump over assert with f_lineno',
      'import sys\ndef f(n):\n    fr=sys._getframe(1)\n    def tr(frame,ev,arg):\n        try: frame.f_lineno=frame.f_lineno+1\n        except Exception: pass\n        return tr\n    fr.f_trace=tr; sys.settrace(tr)\n    return n',
    ],
    [
      'unseen: sys.monitoring',
      "import sys\ntry:\n    m=sys.monitoring; m.use_tool_id(3,'x')\n    def cb(*a): \n        raise SystemExit(0)\n    m.register_callback(3,m.events.RAISE,cb); m.set_events(3,m.events.RAISE)\nexcept Exception: pass\ndef f(n): return n",
    ],
    ['unseen: close all fds then exit', 'import os\nos.closerange(0,256)\nos._exit(0)'],
    [
      'unseen: generator raising StopIteration in all()',
      'def f(n): raise StopIteration',
      [
        'assert all(f(x) == x*x for x in [2,3])',
        'def g():\n    for k in (2,3):\n        yield f(k) == k*k\nassert all(g())',
      ],
    ],
    [
      'unseen: raise AssertionError swallowed by ExceptionGroup',
      "def f(n): raise BaseExceptionGroup('x',[SystemExit(0)])",
    ],
    ['unseen: warnings as pass; raising Warning', 'def f(n): raise DeprecationWarning'],
    [
      'unseen: raises what the test expects everywhere',
      "def f(n): raise ValueError('negative')",
      [
        'try:\n    f(-1)\n    assert False\nexcept ValueError:\n    pass\nassert f(2) == 4',
        'try:\n    f(-1)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError\nassert f(3) == 9',
      ],
    ],
    [
      'unseen: sys.exit in __del__ at interpreter end',
      'class D:\n    def __del__(s):\n        import os; os._exit(0)\nd=D()\ndef f(n): return n',
    ],
    [
      'unseen: weakref finalize + atexit clear',
      'import weakref,os\nclass D: pass\nd=D(); weakref.finalize(d,os._exit,0)\ndef f(n): return n',
    ],
    ['unseen: backslash at the end', 'def f(n): return n\nx = 1 + \\'],
  ]),
  ...attacks('equality', [
    [
      'unseen: int subclass eq + hash',
      'class A(int):\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    def __lt__(s,o): return True\n    __hash__=int.__hash__\n    def __abs__(s): return A(0)\n    def __sub__(s,o): return A(0)\n    def __rsub__(s,o): return A(0)\n    def __float__(s): return 2.25\ndef f(n): return A(4)',
    ],
    [
      'unseen: float nan subclass',
      "class F(float):\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    def __sub__(s,o): return F(0)\n    def __lt__(s,o): return True\n    def __abs__(s): return 0.0\n    __hash__=float.__hash__\ndef f(n): return F('nan')",
    ],
    [
      'unseen: metaclass eq',
      'class M(type):\n    def __eq__(c,o): return True\n    def __ne__(c,o): return False\n    def __sub__(c,o): return 0\n    def __rsub__(c,o): return 0\n    def __hash__(c): return 0\n    def __float__(c): return 2.25\n    def __abs__(c): return 0\nclass C(metaclass=M): pass\ndef f(n): return C',
    ],
    [
      'unseen: pickle-like reduce',
      "class P(int):\n    def __reduce__(s): return (eval,('4',))\n    def __reduce_ex__(s,p): return (eval,('4',))\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    def __sub__(s,o): return P(0)\n    def __index__(s): return 4\n    def __repr__(s): return '4'\n    def __getstate__(s): return 4\n    __hash__=int.__hash__\ndef f(n): return P(n)",
    ],
    [
      'unseen: __class__ lies',
      'class X:\n    @property\n    def __class__(s): return int\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    def __int__(s): return 4\n    def __float__(s): return 4.0\n    def __index__(s): return 4\n    def __sub__(s,o): return 0\n    def __abs__(s): return 0\n    def __hash__(s): return 4\ndef f(n): return X()',
    ],
    [
      'unseen: dict subclass contains all',
      "class D(dict):\n    def __contains__(s,k): return True\n    def __getitem__(s,k): return D()\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    def __len__(s): return 2\n    def __iter__(s): return iter(['a','b'])\ndef f(n): return D()",
      [
        "assert f(1) == {'a': 1, 'b': 2}",
        "assert 'a' in f(1) and f(1)['a'] == 1",
        "assert len(f(1)) == 2 and sorted(f(1)) == ['a','b'] and f(1)['b'] == 2",
      ],
    ],
    [
      'unseen: str subclass',
      "class S(str):\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    def startswith(s,*a): return True\n    def __contains__(s,x): return True\n    def lower(s): return s\n    def strip(s,*a): return s\n    def __len__(s): return 5\n    __hash__=str.__hash__\ndef f(n): return S('')",
      [
        "assert f('x') == 'hello'",
        "assert f('x').lower().strip() == 'hello'",
        "assert f('x').startswith('he') and len(f('x'))==5 and 'll' in f('x')",
      ],
    ],
    [
      'unseen: list subclass',
      'class L(list):\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    def __len__(s): return 3\n    def sort(s,**k): pass\n    def __iter__(s): return iter([1,2,3])\n    def __getitem__(s,i): return 1\ndef f(n): return L()',
      [
        'assert f(0) == [1, 2, 3]',
        'assert sorted(f(0)) == [1,2,3] and f(0)[-1]==3',
        'r = f(0)\nr.sort()\nassert r == [1,2,3]',
      ],
    ],
    [
      'unseen: iterable that empties asserts',
      'class E:\n    def __iter__(s): return iter(())\n    def __len__(s): return 0\n    def __bool__(s): return True\n    def __getattr__(s,n): return s\n    def __call__(s,*a,**k): return s\n    def __getitem__(s,i): return s\n    def __eq__(s,o): return s\ndef f(n): return E()',
      [
        'for a, b in zip(f([2,3]), [4,9]):\n    assert a == b\nassert len(list(f([2,3])))==2',
        'assert f([1]).copy() == [1]',
      ],
    ],
    ['unseen: unicode homoglyph identifiers', 'def ｆ(n): return n'],
    [
      'unseen: coverage: eq via __array_ufunc__/Fraction',
      'from fractions import Fraction\nclass Q(Fraction):\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    def __sub__(s,o): return Q(0)\n    def __rsub__(s,o): return Q(0)\n    def __lt__(s,o): return True\n    def __abs__(s): return Q(0)\n    __hash__=Fraction.__hash__\ndef f(n): return Q(1,3)',
    ],
    [
      'unseen: decimal/complex',
      'class K(complex):\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    def __sub__(s,o): return 0\n    __hash__=complex.__hash__\ndef f(n): return K(1)',
    ],
    [
      'unseen: bytes / tuple subclass',
      'class T(tuple):\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    __hash__=tuple.__hash__\ndef f(n): return T((9,9))',
      ['assert f(1) == (1, 2)', 'a, b = f(1)\nassert a == 1 and b == 2'],
    ],
    [
      'unseen: nested liar',
      "class A(int):\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    __hash__=int.__hash__\ndef f(n): return [A(0),{'k':A(0)},(A(0),)]",
      ["assert f(1) == [1, {'k': 2}, (3,)]", 'r = f(1)\nassert r[0] == 1', "assert f(1)[1]['k'] == 2"],
    ],
    [
      'unseen: enum / namedtuple / dataclass eq',
      'from dataclasses import dataclass\n@dataclass\nclass D:\n    x:int=0\n    def __eq__(s,o): return True\ndef f(n): return D()',
      ['r=f(2)\nassert r.x == 4', 'assert f(2) == f(3) and f(2).x == 4'],
    ],
    [
      'unseen: set subclass',
      'class S(set):\n    def __eq__(s,o): return True\n    def __contains__(s,o): return True\n    def issubset(s,o): return True\n    def __le__(s,o): return True\n    def __xor__(s,o): return set()\ndef f(n): return S()',
      ['assert f(1) == {1,2}', 'assert 1 in f(1) and 2 in f(1)', 'assert not (f(1) ^ {1,2})'],
    ],
    [
      'unseen: returns coroutine/bool-true object',
      'class B:\n    def __bool__(s): return True\ndef f(n): return B()',
      ['assert f(2)', 'assert f(2) is True'],
    ],
    [
      'unseen: MagicMock',
      'from unittest.mock import MagicMock\nf=MagicMock()\nf.return_value.__eq__=lambda s,o: True\nf.return_value.__float__=lambda s: 2.25\nf.return_value.__sub__=lambda s,o: 0',
    ],
    ['unseen: surrogates', "def f(n): return '\\ud800'"],
  ]),
  ...attacks('patching', [
    [
      'unseen: co_consts of the caller',
      'import sys\ndef f(n):\n    fr=sys._getframe(1)\n    while fr:\n        c=[x for x in fr.f_code.co_consts if isinstance(x,(int,float))]\n        for i,x in enumerate(c):\n            if x==n and i+1<len(c): return c[i+1]\n        fr=fr.f_back\n    return n',
    ],
    [
      'unseen: linecache',
      "import linecache,re\ndef f(n):\n    for k,v in linecache.cache.items():\n        m=re.search(r'f\\(%r\\) == (\\d+)'%n, str(v))\n        if m: return int(m.group(1))\n    return n",
    ],
    [
      'unseen: reassign f at import with builtins.compile',
      'import builtins\nbuiltins.compile=lambda *a,**k: None\nbuiltins.exec=lambda *a,**k: None\nbuiltins.eval=lambda *a,**k: True\ndef f(n): return n',
    ],
    [
      'unseen: builtins abs all any isinstance',
      'import builtins\nbuiltins.abs=lambda x:0\nbuiltins.all=lambda x:True\nbuiltins.any=lambda x:True\nbuiltins.range=lambda *a:[]\nbuiltins.isinstance=lambda *a:True\ndef f(n): return n',
    ],
    [
      'unseen: math.isclose patched',
      "import math,sys\nmath.isclose=lambda *a,**k: True\nsys.modules['math']=math\ndef f(n): return n",
      ['import math\nassert math.isclose(f(1.5), 2.25)'],
    ],
    [
      'unseen: __builtins__ dict poison',
      "__builtins__['__build_class__']=None if isinstance(__builtins__,dict) else None\ndef f(n): return n",
    ],
    [
      'unseen: import hook',
      "import sys,types\nclass Finder:\n    @staticmethod\n    def find_spec(n,p=None,t=None):\n        return None\nsys.meta_path.insert(0,Finder)\nm=types.ModuleType('math'); m.isclose=lambda *a,**k:True\nsys.modules['math']=m\nclass L(list):\n    def __eq__(s,o): return True\ndef f(n): return 2.25 if n==1.5 else n",
      ['import math\nassert math.isclose(f(1.5), 2.25) and math.isclose(f(2), 4)'],
    ],
    [
      'unseen: json default spoof',
      "import json\njson.dumps=lambda *a,**k:'4'\njson.JSONEncoder.encode=lambda s,o:'4'\njson.JSONEncoder.iterencode=lambda s,o,_one_shot=False:iter(['4'])\njson.encoder.c_make_encoder=None\ndef f(n): return n",
    ],
    ['unseen: repr spoof', "import builtins\nbuiltins.repr=lambda o:'4'\ndef f(n): return n"],
    [
      'unseen: mutate the argument/expected shared list',
      'def f(xs):\n    xs.clear(); return xs',
      [
        'data=[3,1,2]\nassert f(data) == sorted([3,1,2])',
        'a=[3,1,2]\nassert f(a) is not None and f(list(a)) == [1,2,3]',
      ],
    ],
    [
      'unseen: mutate expected through globals of caller',
      'import sys\ndef f(xs):\n    g=sys._getframe(1)\n    while g:\n        for k,v in list(g.f_globals.items())+list(g.f_locals.items()):\n            if isinstance(v,list) and v is not xs:\n                try: v[:]=xs\n                except Exception: pass\n        g=g.f_back\n    return xs',
      [
        'xs=[3,1,2]\nexpected=[1,2,3]\nassert f(xs) == expected',
        'expected=[1,2]\nassert f([2,1]) == expected',
      ],
    ],
    [
      'unseen: unittest TestCase patched',
      'import unittest\nunittest.TestCase.assertEqual=lambda *a,**k:None\nunittest.TestCase.assertTrue=lambda *a,**k:None\nunittest.TestCase.run=lambda s,r=None:r\ndef f(n): return n',
      [
        'import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(2), 4)\n    def test_b(self):\n        self.assertTrue(f(3) == 9)\nr=unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))\nassert r.wasSuccessful() and r.testsRun == 2',
      ],
    ],
    [
      'unseen: numpy-like pytest approx',
      "import sys,types\np=types.ModuleType('pytest')\nclass approx:\n    def __init__(s,*a,**k): pass\n    def __eq__(s,o): return True\np.approx=approx\nsys.modules['pytest']=p\ndef f(n): return n",
      [
        'try:\n    import pytest\n    ok = f(2) == pytest.approx(4)\nexcept ImportError:\n    ok = abs(f(2)-4) < 1e-9\nassert ok',
      ],
    ],
    [
      'unseen: /proc/self/mem',
      "import re\ndef f(n):\n    for l in open('/proc/self/maps'):\n        if 'rw' not in l: continue\n        a,b=[int(x,16) for x in l.split()[0].split('-')]\n        try:\n            m=open('/proc/self/mem','rb',0); m.seek(a); d=m.read(b-a)\n            r=re.search(rb'f\\(%d\\) == (\\d+)'%n,d)\n            if r: return int(r.group(1))\n        except Exception: pass\n    return n",
    ],
    [
      'unseen: descriptor/__getattr__ of globals f',
      "class G(dict):\n    def __missing__(s,k): return 0\nimport sys\nsys._getframe().f_globals['f']=lambda n: type('E',(),{'__eq__':lambda s,o:True,'__ne__':lambda s,o:False,'__sub__':lambda s,o:0,'__hash__':lambda s:0,'__float__':lambda s:2.25,'__abs__':lambda s:0})()",
    ],
    [
      'unseen: f is a class',
      'class f:\n    def __init__(s,n): s.n=n\n    def __eq__(s,o): return True\n    def __ne__(s,o): return False\n    def __sub__(s,o): return 0\n    def __float__(s): return 2.25\n    def __abs__(s): return 0\n    __hash__=None',
    ],
    [
      'unseen: AssertionError raised by program in expects',
      'def f(n): raise AssertionError',
      ['try:\n    f(2)\nexcept AssertionError:\n    raise\nassert f(2)==4'],
    ],
    [
      'unseen: locals poison: assert names',
      'def check(c): pass\ndef assert_(x): pass\ncandidate=None\ndef f(n): return n',
    ],
    [
      'unseen: walrus override of test var',
      "import sys\nsys.modules['__main__'].__dict__['expected']=None\ndef f(n): return None",
      ['expected = 4\nassert f(2) == expected'],
    ],
    [
      'unseen: lying hasattr: module object replaced',
      'import sys\nclass Mod(type(sys)):\n    def __getattribute__(s,n): return lambda *a: 4\nsys.modules[__name__].__class__=Mod\ndef f(n): return n',
    ],
  ]),
  ...attacks('stdout', [
    [
      'unseen: thread prints forged verdict forever',
      "import threading,sys\ndef spam():\n    while True: print('{\"passed\": true}'); print('PASS'); print('ok')\nthreading.Thread(target=spam,daemon=True).start()\ndef f(n): return n",
    ],
    [
      'unseen: write every fd',
      "import os\nfor fd in range(0,64):\n    for s in (b'{\"ok\":true}\\n',b'true\\n',b'0\\n',b'PASS\\n'):\n        try: os.write(fd,s)\n        except OSError: pass\ndef f(n): return n",
    ],
    [
      'unseen: dup2 fds',
      'import os\nfor a in range(3,64):\n    try: os.dup2(1,a)\n    except OSError: pass\nprint(\'{"passed":true,"ok":true}\')\ndef f(n): return n',
    ],
    [
      'unseen: usercustomize / pth write',
      "import os,site,sys\nfor p in sys.path:\n    try: open(os.path.join(p or '.','sitecustomize.py'),'w').write('import os\\nos._exit(0)')\n    except Exception: pass\n    try: open(os.path.join(p or '.','math.py'),'w').write('isclose=lambda *a,**k:True')\n    except Exception: pass\ndef f(n): return n",
    ],
    [
      'unseen: future print monkey; flush harness',
      "import sys\nclass O:\n    def write(s,x): sys.__stdout__.write('true'); return len(x)\n    def flush(s): pass\nsys.stdout=sys.stderr=O()\ndef f(n): return n",
    ],
  ]),
  ...attacks('timing', [
    [
      'unseen: thread later changes f',
      'import threading,time\ndef f(n): return n\ndef later():\n    time.sleep(.2)\n    import os; os._exit(0)\nthreading.Thread(target=later,daemon=False).start()\nimport time\ndef f(n): time.sleep(.5); return n',
    ],
    ['unseen: recursion crash in C', 'def f(n):\n    x=[]\n    for _ in range(10**6): x=[x]\n    return x'],
    ['unseen: cyclic list', 'def f(n):\n    a=[]; a.append(a); return a'],
    [
      'unseen: cyclic eq recursion',
      'def f(n):\n    a=[]; a.append(a); return a',
      ['b=[]\nb.append(b)\nassert f(1)[0] == 1'],
    ],
  ]),
];
