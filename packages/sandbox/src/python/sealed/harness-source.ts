/** Python code of the tests' world. It trusts the tests and nothing that the program's world sends. */
export const harnessSource = `
import builtins, importlib, math, os, sys, traceback, types

_PURE = frozenset(('math', 'cmath', 'itertools', 'functools', 'operator', 'heapq', 'bisect', 'collections', 'string', 're',
    'statistics', 'copy', 'random', 'fractions', 'decimal', 'datetime', 'typing'))
_MODULES = _PURE | frozenset(('array', 'asyncio', 'base64', 'calendar', 'contextlib', 'dataclasses', 'enum', 'hashlib', 'inspect', 'io',
    'json', 'numbers', 'os', 'pprint', 'queue', 'struct', 'sys', 'textwrap', 'time', 'types'))
_PLAIN = frozenset(('bool', 'int', 'float', 'str', 'bytes', 'bytearray', 'list', 'tuple', 'dict', 'set', 'frozenset', 'complex'))

class _Ended(BaseException):
    """The program has ended. No test goes on, whatever it catches."""

class _Class(type):
    """Class of a class of the program."""
    def __call__(cls, *args, **named): return _harness.do('call', cls, list(args), named)
    def __getattr__(cls, name): return _harness.get(cls, name)
    __doc__ = property(lambda cls: _harness.get(cls, '__doc__'))
    def __iter__(cls): return iter(_harness.do('__iter__', cls))
    def __len__(cls): return _harness.do('__len__', cls)
    def __getitem__(cls, key): return _harness.do('__getitem__', cls, key)
    def __contains__(cls, item): return any(item is one or item == one for one in cls)

_DOC = property(lambda self: _harness.get(self, '__doc__'))

class _Remote(metaclass=_Class):
    """A value of the program that is not plain data."""
    __dict__ = property(lambda self: _harness.do('state', self))
    def __getattr__(self, name): return _harness.get(self, name)
    def __setattr__(self, name, value): _harness.do('set', self, name, value)
    def __eq__(self, other):
        if self is other: return True
        if not isinstance(other, _Remote): return _Remote.plain_equal(self, other)
        return _harness.same(self, other)
    def plain_equal(self, other):
        plain = type(self)._about.plain
        return NotImplemented if plain is None else getattr(builtins, plain).__eq__(self, other)
    def __ne__(self, other):
        same = _Remote.__eq__(self, other)
        return NotImplemented if same is NotImplemented else not same
    def __hash__(self):
        plain = type(self)._about.plain
        return hash(type(self)) if plain is None else getattr(builtins, plain).__hash__(self)

_UNARY = ('__len__', '__iter__', '__next__', '__getitem__', '__setitem__', '__delitem__', '__str__', '__repr__',
    '__reversed__', '__bytes__', '__enter__', '__exit__')
_NUMERIC = ('__bool__', '__int__', '__float__', '__format__', '__index__', '__abs__', '__neg__', '__pos__', '__invert__', '__round__', '__complex__')
_ORDER = ('__lt__', '__le__', '__gt__', '__ge__')

def _forward(name):
    def method(self, *args): return _harness.do(name, self, *args)
    def numeric(self, *args):
        if _tainted(self) and args != ('',): raise TypeError('this object of the program was computed with a value of the test and is not a number')
        return _harness.do(name, self, *args)
    def size(self):
        count = _harness.do(name, self)
        # Nothing is left of what the program took from a value of the test.
        return numeric(self) if count == 0 else count
    def order(self, other): return _harness.do(name, self, other) if isinstance(other, _Remote) else NotImplemented
    def contains(self, item):
        if any('__iter__' in vars(t) for t in type(self).__mro__): return any(item is one or item == one for one in self)
        # What contains anything contains nothing: a value that the test does not know is asked for first.
        chance = int.from_bytes(os.urandom(6), 'little')
        other = {int: chance, float: chance / 7, str: hex(chance), bytes: hex(chance).encode()}.get(type(item), (chance,))
        return not _harness.do(name, self, other) and bool(_harness.do(name, self, item))
    def call(self, *args, **named): return _harness.do('call', self, list(args), named)
    def leave(self, kind, error, trace):
        # What fails within a context of the program has failed.
        if not isinstance(error, AssertionError): return _harness.do(name, self, kind, error, None)
        try: _harness.do(name, self, kind, error, None)
        except Exception: pass
    def binary(self, other):
        result = _harness.do(name, self, other)
        if isinstance(other, _Remote) and not _tainted(self) and not _tainted(other): return result
        if isinstance(result, _Remote): object.__setattr__(result, '_taint', True)
        elif result is not NotImplemented:
            raise TypeError('an object of the program and a value of the test must give an object of the program')
        return result
    def wait(self):
        return _harness.do(name, self)
        yield
    if name == '__call__': return call
    if name == '__exit__': return leave
    if name == '__await__': return wait
    if name == '__contains__': return contains
    if name in _ORDER: return order
    if name in _NUMERIC: return numeric
    if name == '__len__': return size
    return method if name in _UNARY else binary

def _forward_own(name):
    """A method of a class that extends plain data, which holds its value: how it is shown, and what a list or tuple of the program makes with another."""
    def shown(self, *args): return _harness.do(name, self, *args)
    def binary(self, other):
        if isinstance(other, _Remote): return _harness.do(name, self, other)
        plain = getattr(getattr(builtins, type(self)._about.plain), name, None)
        return NotImplemented if plain is None else plain(self, other)
    return shown if name in _SHOWN else binary

_SHOWN = ('__str__', '__repr__', '__format__')

def _tainted(value):
    if not isinstance(value, _Remote): return False
    try: return object.__getattribute__(value, '_taint')
    except AttributeError: return False

def _is_same(one, other):
    return one is other or type(one) is type(other) is tuple and len(one) == len(other) == 2 and one[0] is other[0] and one[1] is other[1]

class _About:
    def __init__(self, number, plain, own): self.number, self.plain, self.own = number, plain, own

class _Harness:
    TYPES = {t.__name__: t for t in vars(builtins).values() if isinstance(t, type) and t not in (type, super)}

    def __init__(self):
        self.classes, self.remotes, self.own, self.ended, self.comparing, self.raised = {}, {}, [], None, set(), {}
        self.lent = []
        self.codec = _Codec(self.describe, self.restore)

    # What is sent to the program.
    def describe(self, value, slot):
        if isinstance(value, _Class) and '_about' in vars(value): return ['p', value._about.number]
        if isinstance(value, _Remote): return ['p', object.__getattribute__(value, '_number')]
        if isinstance(value, type) and self.TYPES.get(value.__name__) is value: return ['w', 'builtins', value.__name__]
        if isinstance(value, type) and (_Codec.TYPES | _Codec.EXACT).get(value.__name__) is value:
            return ['w', value.__module__, value.__name__]
        self.own.append(value)
        return ['h', len(self.own) - 1, 0, []]

    # What the program sends.
    def restore(self, row, value):
        kind = row[0]
        if kind == 'p': return self.own[row[1]]
        if kind == 'w':
            if row[1] == 'builtins': return self.TYPES[row[2]]
            return (_Codec.TYPES | _Codec.EXACT | {'deque': collections.deque})[row[2]]
        if kind == 'o': return importlib.import_module(row[1]) if row[1] in _MODULES else None
        if kind == 'k': return self.classes[row[1]]
        if kind == 'x': return self.exception(self.raised.get(row[1]) or self.TYPES[row[1]], [value(slot) for slot in row[2]])
        if kind != 'h': raise ValueError('a row of an unknown kind')
        found = self.remotes.get(row[1])
        if found is None or type(found)._about.plain is not None:
            found = self.remotes[row[1]] = self.instance(self.classes[row[2]], [value(slot) for slot in row[3]])
            object.__setattr__(found, '_number', row[1])
        return found

    def exception(self, kind, parts):
        if not issubclass(kind, BaseException): raise ValueError('expected an exception')
        *parts, cause = parts
        try: made = kind(*parts)
        except TypeError:
            made = kind.__new__(kind)
            made.args = tuple(parts)
        made.__cause__ = cause
        return made

    def instance(self, kind, parts):
        if issubclass(kind, BaseException):
            made = BaseException.__new__(kind)
            BaseException.args.__set__(made, tuple(parts[:-1]))
            BaseException.__cause__.__set__(made, parts[-1])
            return made
        plain = kind._about.plain
        if plain is None: return object.__new__(kind)
        base = getattr(builtins, plain)
        made = base.__new__(kind, *parts)
        if base in (list, dict, set, bytearray): base.__init__(made, *parts)
        return made

    def learn(self, classes):
        for k, name, bases, has, plain, error, own, number in classes:
            if k in self.classes: continue
            if plain is not None and plain not in _PLAIN: raise ValueError('a class of an unknown kind')
            parents = [self.classes[b] if type(b) is int else self.TYPES.get(b[1], object) for b in bases]
            parents = [b for b in parents if b is not object and (b in self.classes.values() or error or b.__name__ == plain)]
            if error and not any(issubclass(b, Exception) for b in parents): parents = [Exception]
            if plain == 'bool': plain = 'int'
            space = {'_about': _About(number, plain, own), '__module__': 'program', '__doc__': _DOC}
            if plain is None: space |= {name: _forward(name) for name in has if name in _FORWARD}
            else:
                kept = (*_SHOWN, *_BINARY) if plain in ('list', 'tuple') else _SHOWN
                space |= {name: _forward_own(name) for name in has if name in kept}
            if error: space = {'_about': _About(number, None, own), '__module__': 'program'} | {
                name: space[name] for name in ('__str__', '__repr__') if name in space}
            first = () if any(issubclass(b, _Remote) for b in parents) else (_Remote,)
            try: self.classes[k] = type.__new__(_Class, name, (*first, *parents), space)
            except TypeError:
                simple = (_Remote, RuntimeError) if error else (_Remote, getattr(builtins, plain)) if plain else (_Remote,)
                self.classes[k] = type.__new__(_Class, name, simple, space)

    def give_back(self):
        """Tells the program what the test did to lists, dictionaries and sets that are fields of its objects."""
        lent, self.lent = self.lent, []
        for now, before, of, name in lent:
            items = [*now.items()] if isinstance(now, dict) else [*now]
            same = len(items) == len(before) and all(map(_is_same, items, before))
            if not same: self.do('refill', of, name, now)
            self.lent.append((now, before if same else items, of, name))

    def do(self, action, *roots):
        if self.lent and action != 'refill': self.give_back()
        if self.ended is not None: raise _Ended(self.ended)
        top, rows, _, todo = self.codec.encode(roots)
        try:
            _write(_OUT, json.dumps({'do': action, 'top': top, 'rows': rows}))
            answer = _read(_IN)
            while 'do' in answer:
                _write(_OUT, json.dumps(self.serve(answer)))
                answer = _read(_IN)
            if 'ended' in answer: raise ValueError(answer['ended'])
            self.learn(answer['classes'])
            kind = 'value' if 'value' in answer else 'error'
            [result], made, value = self.codec.decode([answer[kind]], answer['rows'], todo)
            self.codec.update(made, answer['changes'], value)
            if kind == 'error' and not isinstance(result, Exception): raise ValueError('what it raised is not an exception')
        except Exception as error:
            self.ended = f'{type(error).__name__}: {error}'
            raise _Ended(self.ended) from None
        sys.stdout.write(str(answer['out']))
        # As in a generator: what iterates over calls of the program must not end early.
        if kind == 'error' and isinstance(result, StopIteration) and action != '__next__':
            raise RuntimeError('the program raised StopIteration')
        if kind == 'error': raise result
        return result

    def get(self, of, name):
        if name.startswith('_Remote__') or name in ('_about', '_number', '__class__', '__dict__'): raise AttributeError(name)
        value = self.do('get', of, name)
        if type(value) in (list, dict, set):
            self.lent = [one for one in self.lent[-31:] if one[2] is not of or one[3] != name]
            self.lent.append((value, [*value.items()] if type(value) is dict else [*value], of, name))
        return self.caught(value)

    def same(self, one, other):
        """Whether two objects of the program are alike: of one class that defines equality, with equal state."""
        if type(one) is not type(other): return False
        if type(one)._about.plain is not None:
            return getattr(builtins, type(one)._about.plain).__eq__(one, other)
        pair = (id(one), id(other))
        if not type(one)._about.own or pair in self.comparing: return pair in self.comparing
        self.comparing.add(pair)
        try:
            first, second = self.do('state', one), self.do('state', other)
            return bool(first) and first == second
        finally:
            self.comparing.discard(pair)

    # What the program asks of the tests: to call a function that it was given, to go on with an iterator.
    def serve(self, request):
        try:
            self.learn(request['classes'])
            roots, made, _ = self.codec.decode(request['top'], request['rows'])
            of, action = self.own[request['of']], request['do']
            if action == 'call': result = of(*roots[0], **roots[1])
            elif action == 'iter': result = iter(of)
            elif action == 'next': result = next(of)
            else: result = self.attribute(of, roots[0])
            top, rows, changes, _ = self.codec.encode([result], made, request['rows'])
            return {'value': top[0], 'rows': rows, 'changes': changes}
        except Exception as error:
            last = error.__traceback__
            while last.tb_next: last = last.tb_next
            # The program must not catch what fails in a function of the tests.
            if isinstance(error, AssertionError) and last.tb_frame.f_code is not _Harness.do.__code__:
                self.ended = f'an assertion failed in a function that the program called: {error}'
            name = next(t.__name__ for t in type(error).__mro__ if vars(builtins).get(t.__name__) is t)
            return {'value': None, 'rows': [], 'changes': [], 'error': [name, str(error)]}

    def attribute(self, of, name):
        """Public attributes of objects that the test defined. Functions and frames would give their globals away."""
        if not isinstance(name, str) or name.startswith('_') or type(of).__module__ != 'tests':
            raise AttributeError(str(name))
        return getattr(of, name)

    def caught(self, value):
        """An error that the program names. It catches what the program raises, not what fails in the tests."""
        if isinstance(value, tuple) and value and all(isinstance(one, (type, tuple)) for one in value):
            return tuple(self.caught(one) for one in value)
        if not isinstance(value, type) or self.TYPES.get(value.__name__) is not value or not issubclass(AssertionError, value) or value is object: return value
        kinds = [t for t in self.TYPES.values() if issubclass(t, value)]
        for kind in kinds:
            if issubclass(AssertionError, kind): self.raised.setdefault(kind.__name__, type(kind.__name__, (kind,), {}))
        return tuple(self.raised.get(kind.__name__, kind) for kind in kinds)

    def test(self, source, test):
        module = types.ModuleType('tests')
        sys.modules['tests'] = module
        names = self.do('load', source)
        program = types.SimpleNamespace()
        for name, value in names:
            if not isinstance(name, str) or not name.isidentifier() or name.startswith('__') or value is None: continue
            if not hasattr(builtins, name): value = self.caught(value)
            setattr(program, name, value)
            if name in _PURE and not isinstance(value, types.ModuleType) or hasattr(builtins, name): continue
            setattr(module, name, math.isclose if name == 'isclose' else math.fabs if name == 'fabs' else value)
        if 'program' not in vars(module): module.program = program
        try:
            exec(compile(test, 'tests.py', 'exec'), module.__dict__)
        except SystemExit as error:
            if error.code not in (None, 0): raise

def _verdict():
    job = _read(_IN)
    try:
        _harness.test(job['source'], job['test'])
        passed, reason = _harness.ended is None, _harness.ended
    except BaseException as error:
        passed, reason = False, ''.join(traceback.format_exception(type(error), error, error.__traceback__, limit=-3))
    try: sys.stdout.flush()
    except Exception: pass
    _write(_VERDICT, json.dumps({'passed': passed, 'reason': None if reason is None else reason[-2000:]}))

def _serve_tests():
    _write(_OUT, json.dumps(_harness.serve(_read(_IN))))

_harness = _Harness()
`;
