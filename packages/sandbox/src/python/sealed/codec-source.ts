/**
 * Python code of both worlds: frames, and values as JSON.
 *
 * A container is a row of a table and refers to others by number, so depth and cycles do not matter. Numbers below the
 * count of a request's rows mean its objects, which is how changes to arguments travel back.
 *
 * Only exact types are data. `describe` makes a row of anything else and `restore` reads it.
 */
export const codecSource = `
import collections, datetime, decimal, fractions, json, os

_IN, _OUT, _VERDICT = 900, 901, 902
_SMALL = 1 << 53
_SCALARS = frozenset((type(None), bool, int, float, str))
_MOST = 2_000_000

def _write(file, text):
    data = text.encode()
    data = len(data).to_bytes(8, 'little') + data
    while data:
        data = data[os.write(file, data):]

def _exactly(file, size):
    parts = []
    while size:
        part = os.read(file, min(size, 1 << 20))
        if not part:
            raise EOFError('the other side has ended')
        parts.append(part)
        size -= len(part)
    return b''.join(parts)

def _read(file):
    return json.loads(_exactly(file, int.from_bytes(_exactly(file, 8), 'little')))

class _Codec:
    TYPES = {t.__name__: t for t in (collections.Counter, collections.OrderedDict, collections.defaultdict)}
    EXACT = {t.__name__: t for t in (slice, fractions.Fraction, decimal.Decimal, datetime.date, datetime.time, datetime.datetime, datetime.timedelta)}

    def __init__(self, describe, restore):
        self.describe, self.restore = describe, restore

    def encode(self, roots, made=(), sent=()):
        """Slots of the roots, new rows, changes to the containers that came as rows, and what the rows stand for."""
        known = {id(value): k for k, value in enumerate(made)}
        rows, todo, base = [], [], len(made)
        def slot(value):
            kind = type(value)
            if kind is int:
                return value if -_SMALL < value < _SMALL else ['i', hex(value)]
            if kind in _SCALARS:
                return value
            k = known.get(id(value))
            if k is None:
                k = base + len(todo)
                if k > _MOST:
                    raise ValueError('too many values')
                known[id(value)] = k
                todo.append(value)
            return ['r', k]
        top = [slot(value) for value in roots]
        now = [(k, self.row(made[k], slot)) for k, row in enumerate(sent) if row[0] in 'ldsDey']
        changes = [[k, row] for k, row in now if row != sent[k]]
        while len(rows) < len(todo):
            rows.append(self.row(todo[len(rows)], slot))
        return top, rows, changes, todo

    def slots(self, values, slot):
        values = list(values)
        kinds = set(map(type, values))
        if kinds <= _SCALARS and (int not in kinds or all(-_SMALL < v < _SMALL for v in values if type(v) is int)):
            return values
        return [slot(value) for value in values]

    def row(self, value, slot):
        kind = type(value)
        if kind is list: return ['l', self.slots(value, slot)]
        if kind is tuple: return ['t', self.slots(value, slot)]
        if kind is dict: return ['d', self.slots((x for pair in value.items() for x in pair), slot)]
        if kind is set: return ['s', self.slots(value, slot)]
        if kind is frozenset: return ['f', self.slots(value, slot)]
        if kind is bytes: return ['b', value.decode('latin1')]
        if kind is bytearray: return ['y', value.decode('latin1')]
        if kind is complex: return ['c', value.real, value.imag]
        if kind is range: return ['g', slot(value.start), slot(value.stop), slot(value.step)]
        if kind is collections.deque: return ['e', value.maxlen, self.slots(value, slot)]
        if self.TYPES.get(kind.__name__) is kind:
            return ['D', kind.__name__, self.slots((x for pair in dict.items(value) for x in pair), slot)]
        if self.EXACT.get(kind.__name__) is kind:
            if kind is fractions.Fraction: parts = (value.numerator, value.denominator)
            elif kind is slice: parts = (value.start, value.stop, value.step)
            elif kind is decimal.Decimal: parts = (str(value),)
            elif kind is datetime.timedelta: parts = (value.days, value.seconds, value.microseconds)
            elif value.__reduce__()[1][1:]: return self.describe(value, slot)
            else: parts = (value.__reduce__()[1][0].decode('latin1'),)
            return ['q', kind.__name__, self.slots(parts, slot)]
        if value is Ellipsis: return ['n', 'Ellipsis']
        if value is NotImplemented: return ['n', 'NotImplemented']
        return self.describe(value, slot)

    def decode(self, top, rows, made=()):
        base, made = len(made), list(made)
        states = [2] * base + [0] * len(rows)
        for k, row in enumerate(rows, base):
            made.append(self.blank(row))
            if made[k] is not None: states[k] = 2
        def value(slot):
            if type(slot) is not list: return slot
            return int(slot[1], 16) if slot[0] == 'i' else made[slot[1]]
        for k in range(base, len(made)):
            stack = [k]
            while stack:
                k = stack[-1]
                if states[k] == 2:
                    stack.pop()
                    continue
                row = rows[k - base]
                items = row[-1] if type(row[-1]) is list and row[0] in 'tfqhx' else ()
                missing = [s[1] for s in items if type(s) is list and s[0] == 'r' and states[s[1]] != 2]
                if missing and states[k] == 1:
                    raise ValueError('a value that contains itself')
                if missing:
                    states[k] = 1
                    stack.extend(missing)
                    continue
                made[k], states[k] = self.whole(row, value), 2
        for k, row in enumerate(rows, base):
            if row[0] in 'ldsDe': self.fill(made[k], row, value)
        # What extends a container was made before its content was there.
        for k, row in enumerate(rows, base):
            for kind in (list, dict, set):
                if row[0] == 'h' and isinstance(made[k], kind): kind.__init__(made[k], *map(value, row[-1]))
        return [value(slot) for slot in top], made, value

    def blank(self, row):
        kind = row[0]
        if kind == 'l': return []
        if kind == 'd': return {}
        if kind == 's': return set()
        if kind == 'e': return collections.deque(maxlen=row[1])
        if kind == 'D': return self.TYPES[row[1]]()
        if kind == 'y': return bytearray(row[1], 'latin1')

    def whole(self, row, value):
        kind = row[0]
        if kind == 't': return tuple(map(value, row[1]))
        if kind == 'f': return frozenset(map(value, row[1]))
        if kind == 'b': return row[1].encode('latin1')
        if kind == 'c': return complex(row[1], row[2])
        if kind == 'g': return range(value(row[1]), value(row[2]), value(row[3]))
        if kind == 'n': return Ellipsis if row[1] == 'Ellipsis' else NotImplemented
        if kind == 'q':
            kind, parts = self.EXACT[row[1]], list(map(value, row[2]))
            dated = issubclass(kind, (datetime.date, datetime.time))
            return kind(parts[0].encode('latin1')) if dated else kind(*parts)
        return self.restore(row, value)

    def fill(self, made, row, value):
        items = [value(slot) for slot in row[-1]]
        if row[0] == 's':
            made.clear()
            made.update(items)
        elif row[0] in 'le':
            made.clear()
            made.extend(items)
        else:
            dict.clear(made)
            for k in range(0, len(items), 2): dict.__setitem__(made, items[k], items[k + 1])

    def update(self, made, changes, value):
        for k, row in changes:
            if row[0] == 'y': made[k][:] = row[1].encode('latin1')
            else: self.fill(made[k], row, value)
`;
