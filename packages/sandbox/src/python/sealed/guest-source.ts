/** Python code of the program's world. Programs may change all of it: nothing outside relies on what it does. */
export const guestSource = `
import asyncio, builtins, io, operator, os, sys, types

class _Guest:
    PLAIN = (bool, int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset, complex)

    def __init__(self):
        self.known, self.things, self.classes, self.told, self.loaded = {}, [], {}, [], None
        self.codec = _Codec(self.describe, self.restore)
        self.named = {id(t): ['w', 'builtins', t.__name__] for t in vars(builtins).values() if isinstance(t, type) and t not in (type, super)}
        self.named |= {id(t): ['w', t.__module__, t.__name__]
            for t in (*_Codec.TYPES.values(), *_Codec.EXACT.values(), collections.deque)}

    def describe(self, value, slot):
        if id(value) in self.named: return self.named[id(value)]
        kind = type(value)
        if kind is _Foreign: return ['p', value._number]
        if isinstance(value, types.ModuleType): return ['o', value.__name__]
        if isinstance(value, BaseException) and id(kind) in self.named:
            return ['x', kind.__name__, self.parts(value, slot)]
        if isinstance(value, type): return ['k', self.class_of(value), self.number(value)]
        plain = next((t for t in self.PLAIN if issubclass(kind, t)), None)
        base = []
        if plain is not None:
            if plain is dict: copy = dict(dict.items(value))
            elif plain in (list, tuple, set, frozenset): copy = plain(plain.__iter__(value))
            elif plain is str: copy = str.__str__(value)
            elif plain is int: copy = int.__int__(value)
            elif plain is float: copy = float.__float__(value)
            else: copy = plain(value)
            base = [slot(copy)]
        elif isinstance(value, BaseException): base = self.parts(value, slot)
        return ['h', self.number(value), self.class_of(kind), base]

    def parts(self, error, slot):
        args = (error.message, error.exceptions) if isinstance(error, BaseExceptionGroup) else error.args
        return [slot(one) for one in (*args, error.__cause__)]

    def number(self, value):
        k = self.known.get(id(value))
        if k is None:
            k = self.known[id(value)] = len(self.things)
            self.things.append(value)
        return k

    def class_of(self, kind):
        k = self.classes.get(kind)
        if k is None:
            k = self.classes[kind] = len(self.classes)
            bases = [self.named[id(t)][1:] if id(t) in self.named else self.class_of(t) for t in kind.__bases__]
            own = [t for t in kind.__mro__ if t is not object and not (id(t) in self.named and issubclass(t, BaseException))]
            has = [name for name in _FORWARD if any(name in vars(t) for t in own)]
            plain = next((t.__name__ for t in self.PLAIN if issubclass(kind, t)), None)
            error = isinstance(kind, type) and issubclass(kind, BaseException)
            own = kind.__eq__ is not object.__eq__
            self.told.append([k, kind.__name__, bases, has, plain, error, own, self.number(kind)])
        return k

    def restore(self, row, value):
        if row[0] == 'p': return self.things[row[1]]
        if row[0] == 'h': return _Foreign(row[1])
        if row[0] == 'w': return vars(sys.modules[row[1]])[row[2]]
        raise ValueError('a row of an unknown kind')

    def answer(self, request):
        try:
            roots, made, _ = self.codec.decode(request['top'], request['rows'])
        except Exception as error:
            return self.failure(error)
        try:
            result = self.perform(request['do'], roots, request)
            return self.reply('value', [result], made, request['rows'])
        except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
            return {'ended': repr(error)}
        except BaseException as error:
            try:
                return self.reply('error', [error], made, request['rows'])
            except Exception as second:
                return self.failure(second)

    def failure(self, error):
        return self.reply('error', [RuntimeError(f'{type(error).__name__}: {error}')], (), ())

    def reply(self, kind, roots, made, sent):
        top, rows, changes, _ = self.codec.encode(roots, made, sent)
        told, self.told = self.told, []
        out, self.out = self.out.getvalue(), io.StringIO()
        if sys.stdout is self.before: sys.stdout = self.before = self.out
        return {kind: top[0], 'rows': rows, 'changes': changes, 'classes': told, 'out': out}

    def perform(self, action, roots, request):
        if action == 'load': return self.load(*roots)
        if action == 'call': return roots[0](*roots[1], **roots[2])
        if action == 'get': return getattr(*roots)
        if action == 'set': return setattr(*roots)
        if action == 'refill': return self.refill(*roots)
        if action == 'state': return self.state(*roots)
        plain = _BUILTIN.get(action)
        if plain is not None: return plain(*roots)
        return getattr(type(roots[0]), action)(*roots)

    def load(self, source):
        self.out = self.before = sys.stdout = io.StringIO()
        module = self.loaded = types.ModuleType('program')
        sys.modules['program'] = module
        exec(compile(source, 'program.py', 'exec'), module.__dict__)
        return [(name, value) for name, value in vars(module).items() if name[:2] != '__']

    def refill(self, of, name, value):
        mine = getattr(of, name)
        if type(mine) is list: mine[:] = value
        elif type(mine) is type(value): mine.clear(); mine.update(value)

    def state(self, value):
        state = dict(getattr(value, '__dict__', {}))
        for kind in type(value).__mro__:
            names = vars(kind).get('__slots__', ())
            for name in (names,) if isinstance(names, str) else names:
                if hasattr(value, name): state[name] = getattr(value, name)
        return state

def _ask(request):
    _write(_OUT, json.dumps(request))
    return _read(_IN)

class _Foreign:
    """Something of the tests: a function or an iterator that was passed to the program."""
    def __init__(self, number): self._number = number
    def _do(self, action, *roots):
        top, rows, _, todo = _guest.codec.encode(roots)
        answer = _ask({'do': action, 'of': self._number, 'top': top, 'rows': rows, 'classes': _guest.told})
        _guest.told = []
        [result], made, value = _guest.codec.decode([answer.get('value')], answer['rows'], todo)
        if 'error' in answer:
            kind = getattr(builtins, answer['error'][0], RuntimeError)
            raise kind(*answer['error'][1:])
        _guest.codec.update(made, answer['changes'], value)
        return result
    def __call__(self, *args, **named): return self._do('call', list(args), named)
    def __iter__(self): return self._do('iter')
    def __next__(self): return self._do('next')
    def __getattr__(self, name): return self._do('get', name)

async def _awaited(value): return await value

_BUILTIN = {'__await__': lambda value: asyncio.run(_awaited(value)), '__len__': len, '__iter__': iter, '__next__': next, '__getitem__': operator.getitem, '__setitem__': operator.setitem,
    '__delitem__': operator.delitem, '__contains__': operator.contains, '__str__': str, '__repr__': repr, '__format__': format,
    '__bool__': bool, '__int__': int, '__float__': float, '__index__': operator.index, '__abs__': abs,
    '__neg__': operator.neg, '__pos__': operator.pos, '__invert__': operator.invert, '__round__': round, '__reversed__': reversed,
    '__bytes__': bytes, '__complex__': complex}
_BINARY = [f'__{side}{name}__' for side in ('', 'r', 'i') for name in ('add', 'sub', 'mul', 'truediv', 'floordiv', 'mod', 'divmod', 'pow',
    'matmul', 'and', 'or', 'xor', 'lshift', 'rshift') if side + name != 'idivmod']
_FORWARD = [*_BUILTIN, *_BINARY, '__lt__', '__le__', '__gt__', '__ge__', '__call__', '__enter__', '__exit__']

def _serve():
    _write(_OUT, json.dumps(_guest.answer(_read(_IN))))

def _run():
    """A program with standard input: its exit code is that of the interpreter."""
    import atexit, traceback
    source = _read(_IN)['source']
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding='utf-8')
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, 'w', closefd=False)), encoding='utf-8')
    sys.stderr = sys.__stderr__ = io.TextIOWrapper(io.FileIO(2, 'w', closefd=False), encoding='utf-8', write_through=True)
    module = types.ModuleType('__main__')
    sys.modules['__main__'] = module
    code = 0
    try:
        exec(compile(source, 'program.py', 'exec'), module.__dict__)
    except SystemExit as error:
        code = error.code
        if code is None: code = 0
        elif not isinstance(code, int):
            print(code, file=sys.__stderr__)
            code = 1
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
        code = 1
    try:
        atexit._run_exitfuncs()
    finally:
        try: sys.stdout.flush()
        finally: sys.__stdout__.flush()
    os._exit(code & 255)

_guest = _Guest()
`;
