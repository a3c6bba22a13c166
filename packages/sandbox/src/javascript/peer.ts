/**
 * Runs inside both engines of a job with tests, after the globals of a program. Evaluates to `[serve, settle]`.
 *
 * `ask(text)` sends a request to the other world and returns its answer, and `notify(text)` tells it that a promise
 * settled. A container is a row of a table and refers to others by number, so depth and cycles do not matter. Numbers below
 * the count of a request's rows mean its objects, which is how changes to arguments travel back.
 *
 * The tests' world lets the other one call the functions that it passed, and nothing else.
 */
export const peerPrelude = `(function (ask, notify, isTests) {
  'use strict';
  const failed = globalThis.isFailure;
  delete globalThis.isFailure;
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const evaluate = eval;
  const things = [];
  const numbers = new Map();
  const remotes = new Map();
  const remoteOf = new WeakMap();
  const waiting = new Map();
  const natives = { Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError };
  const numberOf = (value) => {
    if (!numbers.has(value)) numbers.set(value, things.push(value) - 1);
    return numbers.get(value);
  };
  const arrays = { Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array };
  const kindOf = (value) => {
    const prototype = Object.getPrototypeOf(value);
    if (isArray(value)) return prototype === Array.prototype ? 'array' : 'handle';
    if (prototype === Object.prototype || prototype === null) {
      // Methods and accessors need their object, and a method such as valueOf must not decide anything in the other world.
      const isBound = ({ get, set, value: own } = {}) => get || set || typeof own === 'function';
      return !isTests && Object.keys(value).some((key) => isBound(Object.getOwnPropertyDescriptor(value, key))) ? 'handle' : 'object';
    }
    if (prototype === Map.prototype) return 'map';
    if (prototype === Set.prototype) return 'set';
    if (prototype === Date.prototype) return 'date';
    if (prototype === RegExp.prototype) return 'regexp';
    for (const name of Object.keys(arrays)) if (prototype === arrays[name].prototype) return name;
    return 'handle';
  };

  /** What an error, or the match of a regular expression, has of its own. Methods stay in their world. */
  const extras = (value, keys) =>
    keys.filter((key) => Object.hasOwn(value, key) && !/^(?:name|message|stack)$/.test(key) && typeof value[key] !== 'function');
  const encode = (roots, made = [], sent = []) => {
    const known = new Map(made.map((value, k) => [value, k]));
    const rows = [];
    const todo = [];
    const slot = (value) => {
      if (typeof value === 'number') return value === value && value - value === 0 && !Object.is(value, -0) ? value : ['n', String(Object.is(value, -0) ? '-0' : value)];
      if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
      if (value === undefined) return ['u'];
      if (typeof value === 'bigint') return ['i', String(value)];
      let k = known.get(value);
      if (k === undefined) {
        k = made.length + todo.length;
        if (k > 1000000) throw new RangeError('too many values');
        known.set(value, k);
        todo.push(value);
      }
      return ['r', k];
    };
    const named = (value, keys) => extras(value, keys).flatMap((key) => [key, slot(value[key])]);
    const row = (value) => {
      if (remoteOf.has(value)) return ['p', remoteOf.get(value)];
      if (typeof value === 'symbol') return ['y', String(value.description), Symbol.keyFor(value) !== undefined];
      if (typeof value === 'function') return ['h', numberOf(value), 'function', value.name, Object.hasOwn(value, 'prototype'), value.length];
      const kind = kindOf(value);
      if (kind === 'array') return ['a', Array.from(value, slot), typeof value.input === 'string' ? named(value, ['index', 'input', 'groups']) : []];
      if (kind === 'object') return ['o', Object.keys(value).flatMap((key) => [key, slot(value[key])])];
      if (kind === 'map') return ['m', [...Map.prototype.entries.call(value)].flatMap(([key, one]) => [slot(key), slot(one)])];
      if (kind === 'set') return ['s', [...Set.prototype.values.call(value)].map(slot)];
      if (kind === 'date') return ['d', slot(Date.prototype.getTime.call(value))];
      if (kind === 'regexp') return ['x', value.source, value.flags];
      if (kind !== 'handle') return ['t', kind, Array.from(value, slot)];
      if (value instanceof Error) return ['e', numberOf(value), String(value.name), String(value.message), named(value, [...Object.keys(value), 'cause', 'errors'])];
      if (value instanceof Promise) {
        const id = numberOf(value);
        const tell = (state) => (result) => {
          const [top, table] = encode([result]);
          notify(stringify({ id, state, top, rows: table }));
        };
        Promise.prototype.then.call(value, tell('value'), tell('error'));
        return ['w', id];
      }
      return ['h', numberOf(value), 'object', value.constructor?.name ?? '', Symbol.iterator in value, Symbol.asyncIterator in value, isArray(value)];
    };
    const top = roots.map(slot);
    const changes = [];
    for (let k = 0; k < sent.length; k++) {
      if (!'aomst'.includes(sent[k][0])) continue;
      const now = row(made[k]);
      if (stringify(now) !== stringify(sent[k])) changes.push([k, now]);
    }
    while (rows.length < todo.length) rows.push(row(todo[rows.length]));
    return [top, rows, changes, todo];
  };

  const put = (object, key, value) =>
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  const fill = (made, row, value) => {
    const [kind, items, typed] = row;
    const own = kind === 'a' ? typed : kind === 'e' ? row[4] : [];
    for (let k = 0; k < own.length; k += 2) put(made, own[k], value(own[k + 1]));
    if (kind === 'a') {
      made.length = 0;
      for (const item of items) made.push(value(item));
    } else if (kind === 'o') {
      for (const key of Object.keys(made)) delete made[key];
      for (let k = 0; k < items.length; k += 2) put(made, items[k], value(items[k + 1]));
    } else if (kind === 'm') {
      made.clear();
      for (let k = 0; k < items.length; k += 2) made.set(value(items[k]), value(items[k + 1]));
    } else if (kind === 's') {
      made.clear();
      for (const item of items) made.add(value(item));
    } else if (kind === 't') typed.forEach((item, k) => (made[k] = value(item)));
  };
  const blank = (row) => {
    const [kind] = row;
    if (kind === 'a') return [];
    if (kind === 'o') return {};
    if (kind === 'm') return new Map();
    if (kind === 's') return new Set();
    if (kind === 'd') return new Date(isArray(row[1]) ? NaN : row[1]);
    if (kind === 'x') return new RegExp(row[1], row[2]);
    if (kind === 't' && Object.hasOwn(arrays, row[1])) return new arrays[row[1]](row[2].length);
    if (kind === 'y') return row[2] === true ? Symbol.for(row[1]) : Symbol(row[1]);
    if (kind === 'p' && Number.isInteger(row[1])) return things[row[1]];
    if (kind === 'e') return errorOf(row);
    if (kind === 'w') return promiseOf(row[1]);
    if (kind === 'h') return remote(row);
    throw new TypeError('a row of an unknown kind');
  };
  const decode = (top, rows, first = []) => {
    const made = [...first];
    for (const row of rows) made.push(blank(row));
    const value = (slot) => {
      if (!isArray(slot)) return slot;
      const [kind, content] = slot;
      return kind === 'r' ? made[content] : kind === 'i' ? BigInt(content) : kind === 'n' ? Number(content) : undefined;
    };
    rows.forEach((row, k) => fill(made[first.length + k], row, value));
    return [top.map(value), made, value];
  };

  const errorOf = ([, id, name, message]) => {
    if (remotes.has(id)) return remotes.get(id);
    const error = new (Object.hasOwn(natives, name) ? natives[name] : Error)(message);
    if (error.name !== name) put(error, 'name', name);
    remotes.set(id, error);
    remoteOf.set(error, id);
    return error;
  };
  const promiseOf = (id) => {
    if (!remotes.has(id)) {
      const promise = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
      promise.catch(() => undefined);
      remotes.set(id, promise);
      remoteOf.set(promise, id);
    }
    return remotes.get(id);
  };
  // What the tests do to lists, maps, sets and objects that are fields of the program's objects, the program sees before its next turn.
  let lent = [];
  const contents = (value) =>
    isArray(value) || value instanceof Set ? [...value] : value instanceof Map ? [...value].flat() : Object.entries(value).flat();
  const lend = (of, key, value) => {
    if (isTests && typeof value === 'object' && value !== null && !remoteOf.has(value) && ['array', 'object', 'map', 'set'].includes(kindOf(value)))
      lent = [...lent.slice(-31).filter((one) => one.of !== of || one.key !== key), { of, key, value, before: contents(value) }];
    return value;
  };
  const giveBack = () => {
    const all = lent;
    lent = [];
    for (const one of all) {
      const now = contents(one.value);
      if (now.length !== one.before.length || now.some((item, k) => !Object.is(item, one.before[k]))) request('refill', one.of, one.key, one.value);
      one.before = now;
    }
    lent = all;
  };
  const request = (action, ...roots) => {
    if (lent.length > 0) giveBack();
    const [top, rows, , todo] = encode(roots);
    const answer = parse(ask(stringify({ action, top, rows })));
    const [[result], made, value] = decode(answer.top, answer.rows, todo);
    for (const [k, row] of answer.changes) fill(made[k], row, value);
    if (answer.kind !== 'value') throw result;
    return result;
  };
  // A value of the other world. Its coercions do not decide anything here: as a number it throws.
  const remote = ([, id, type, name, has, more, extendsArray]) => {
    if (remotes.has(id)) return remotes.get(id);
    const target = type === 'function' ? (has ? function () {} : () => {}) : {};
    if (type === 'function') for (const [key, value] of [['name', name], ['length', more]]) Object.defineProperty(target, key, { value, configurable: true });
    const proxy = new Proxy(target, {
      get: (_, key) => {
        if (key === Symbol.toPrimitive)
          return (hint) => {
            if (hint === 'string') return String(request('text', proxy));
            throw new TypeError('an object of the program is not a plain value');
          };
        if (key === Symbol.iterator) return type === 'object' && has ? () => request('iterate', proxy) : undefined;
        if (key === Symbol.hasInstance) return (value) => remoteOf.has(value) && request('instance', value, proxy) === true;
        if (key === Symbol.asyncIterator) return type === 'object' && more ? () => request('asyncIterate', proxy) : undefined;
        if (typeof key === 'symbol') return undefined;
        if (key === 'then') return undefined;
        // The tests only let their functions be called.
        if (!isTests && type === 'function' && /^(?:name|length|bind|call|apply)$/.test(key)) return target[key];
        return lend(proxy, key, request('get', proxy, key));
      },
      set: (_, key, value) => (request('set', proxy, key, value), true),
      has: (_, key) => typeof key === 'string' && request('has', proxy, key) === true,
      getPrototypeOf: (own) => (extendsArray === true ? Array.prototype : Reflect.getPrototypeOf(own)),
      ownKeys: (own) => (type === 'function' ? Reflect.ownKeys(own) : Object.keys(request('state', proxy))),
      getOwnPropertyDescriptor: (own, key) =>
        type === 'function' || typeof key === 'symbol'
          ? Reflect.getOwnPropertyDescriptor(own, key)
          : { value: request('get', proxy, key), writable: true, enumerable: true, configurable: true },
      deleteProperty: (_, key) => (request('delete', proxy, key), true),
      apply: (_, self, args) => request('apply', proxy, remoteOf.has(self) ? self : undefined, args),
      construct: (_, args) => request('construct', proxy, args),
    });
    remotes.set(id, proxy);
    remoteOf.set(proxy, id);
    return proxy;
  };
  globalThis.stateOf = isTests ? (value) => (remoteOf.has(value) && !(value instanceof Error) ? request('state', value) : undefined) : undefined;

  const actions = {
    apply: (f, self, args) => Reflect.apply(f, self, args),
    construct: (f, args) => Reflect.construct(f, args),
    get: (of, key) => of[key],
    set: (of, key, value) => void (of[key] = value),
    has: (of, key) => key in of,
    delete: (of, key) => delete of[key],
    text: (of) => String(of),
    iterate: (of) => of[Symbol.iterator](),
    refill: (of, key, value) => {
      const mine = of[key];
      if (isArray(mine)) mine.splice(0, mine.length, ...value);
      else if (mine instanceof Map || mine instanceof Set) {
        mine.clear();
        for (const item of value) mine instanceof Map ? mine.set(...item) : mine.add(item);
      } else {
        for (const name of Object.keys(mine)) delete mine[name];
        Object.assign(mine, value);
      }
    },
    asyncIterate: (of) => of[Symbol.asyncIterator](),
    instance: (value, kind) => value instanceof kind,
    state: (of) => Object.fromEntries(Object.entries(of).filter(([, value]) => typeof value !== 'function')),
    global: (name) => evaluate('typeof ' + name + ' === "undefined" ? undefined : ' + name),
    exports: () => globalThis.module?.exports,
  };
  const serve = (text) => {
    const { action, top, rows } = parse(text);
    let made = [];
    let kind = 'value';
    let result;
    try {
      const [roots, all] = decode(top, rows);
      made = all;
      if (isTests && action !== 'apply') throw new TypeError('a value of the tests can only be called');
      result = actions[action](...roots);
    } catch (error) {
      kind = isTests && failed(error) ? 'failed' : 'error';
      result = error;
    }
    try {
      const [slots, table, changes] = encode([result], made, rows);
      return stringify({ kind, top: slots, rows: table, changes });
    } catch (error) {
      const [slots, table] = encode([new RangeError('the result cannot be sent: ' + String(error?.message))]);
      return stringify({ kind: 'error', top: slots, rows: table, changes: [] });
    }
  };
  const settle = (text) => {
    const { id, state, top, rows } = parse(text);
    const [[result]] = decode(top, rows);
    const found = waiting.get(id);
    waiting.delete(id);
    if (state === 'value') found?.resolve(result);
    else found?.reject(result);
  };
  if (isTests) {
    const words = /^[\\p{ID_Start}$_][\\p{ID_Continue}$]*$/u;
    const builtIn = new Set(Object.getOwnPropertyNames(globalThis));
    const found = new Map();
    const lookUp = (name) => {
      if (!found.has(name)) {
        const value = request('global', name);
        found.set(name, value === undefined ? request('exports')?.[name] : value);
      }
      return found.get(name);
    };
    const inProgram = (name) => typeof name === 'string' && words.test(name) && lookUp(name) !== undefined;
    const get = (_, name) => (typeof name === 'string' ? lookUp(name) : undefined);
    globalThis.program = new Proxy({}, { has: (_, name) => inProgram(name), get: (_, name) => (inProgram(name) ? lookUp(name) : undefined) });
    globalThis.scopeOfTests = new Proxy({}, {
      has: (_, name) => !builtIn.has(name) && name !== 'program' && !Object.hasOwn(globalThis, name) && inProgram(name),
      get,
    });
  }
  return [serve, settle];
})`;
