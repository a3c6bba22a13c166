/**
 * Runs inside the engine before any untrusted code.
 *
 * It keeps references to built-in functions before code can replace them. It returns only text to the
 * outside, whatever the code did to its globals.
 */
const common = `
  'use strict';
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const text = String;
  const { slice } = String.prototype;
  const cut = (value, length) => apply(slice, value, [0, length]);
  const Promised = Promise;
  const { then } = Promise.prototype;
  const describe = (error) => {
    try {
      if (typeof error !== 'object' || error === null) return cut(text(error), 500);
      return cut(text(error.name) + ': ' + text(error.message), 500);
    } catch {
      return 'something that cannot be shown';
    }
  };
  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || value === null) return text(value);
    try {
      return stringify(value) ?? text(value);
    } catch (error) {
      return describe(error);
    }
  };
  // After a stop, the engine checks for it only after some loop iterations. Nothing can catch it then.
  const put = (stream, value) => {
    if (write(stream, cut(value, limit + 1))) for (;;);
  };
  const say = (stream) => (...values) => {
    let line = '';
    for (let k = 0; k < values.length; k++) line += (k > 0 ? ' ' : '') + shown(values[k]);
    put(stream, line + '\\n');
  };
  const console = { log: say('stdout'), info: say('stdout'), debug: say('stdout'), warn: say('stderr'), error: say('stderr') };
  globalThis.console = console;
  // Without threads it has no use, so remove it.
  delete globalThis.SharedArrayBuffer;
`;

/**
 * Evaluates to `[start, describe]`. `start(f, args)` is a promise of text.
 *
 * The text begins with `v` before the JSON of the value, with `j` before the reason for missing JSON, or with
 * `e` before a thrown value.
 */
export const callPrelude = `(function (write, limit) {${common}
  const settled = (value) => {
    try {
      const json = stringify(value);
      return json === undefined ? 'jexpected JSON data, got ' + typeof value : 'v' + json;
    } catch (error) {
      return 'j' + describe(error);
    }
  };
  const start = (f, args) => {
    const promise = new Promised((resolve) => resolve(apply(f, undefined, parse(args))));
    return apply(then, promise, [settled, (error) => 'e' + describe(error)]);
  };
  return [start, describe];
})`;

/** Functions of `assert`. They compare values themselves: no method of a value decides. */
const equality = `
  const failures = new WeakSet();
  globalThis.isFailure = (error) => failures.has(error);
  const fail = (message, otherwise) => {
    const error = message instanceof Error ? message : new Error('AssertionError: ' + (message ?? otherwise));
    failures.add(error);
    throw error;
  };
  const { isArray } = Array;
  const { keys } = Object;
  const { toString } = Object.prototype;
  const entriesOf = (value) => {
    const state = globalThis.stateOf?.(value) ?? value;
    return [keys(state), state];
  };
  const deep = (a, b, same, pairs = []) => {
    if (same(a, b)) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    // Lists, dates, typed arrays and so on equal their like only.
    if (apply(toString, a, []) !== apply(toString, b, []) || pairs.length > 1000) return false;
    for (let k = 0; k < pairs.length; k++) if (pairs[k][0] === a && pairs[k][1] === b) return true;
    const within = [...pairs, [a, b]];
    if (a instanceof Date || a instanceof RegExp) return text(a) === text(b);
    if (a instanceof Error) return a.name === b.name && a.message === b.message;
    for (const kind of [Map, Set]) {
      if (!(a instanceof kind)) continue;
      if (a.size !== b.size) return false;
      const others = [...b];
      return [...a].every((one) => {
        const at = others.findIndex((other) => deep(one, other, same, within));
        return at >= 0 && others.splice(at, 1).length === 1;
      });
    }
    const [one, first] = entriesOf(a);
    const [other, second] = entriesOf(b);
    if (one.length !== other.length || (isArray(a) && a.length !== b.length)) return false;
    return one.every((key) => Object.hasOwn(second, key) && deep(first[key], second[key], same, within));
  };
  const assert = (value, message) => value || fail(message, 'assertion failed');
  const check = (test, word) => (a, b, message) => test(a, b) || fail(message, shown(a) + word + shown(b));
  const equal = check(same, ' is not ');
  const not = (test) => (a, b) => !test(a, b);
  const { is } = Object;
  const alike = (a, b) => deep(a, b, same);
  const exactly = (a, b) => deep(a, b, is);
  const matches = (error, expected) =>
    typeof expected !== 'function' && !(expected instanceof RegExp)
      ? expected === undefined || typeof expected === 'string' || keys(expected).every((key) => alike(error[key], expected[key]))
      : expected instanceof RegExp
        ? expected.test(text(error))
        : error instanceof expected || (!/^(class|function [A-Z])/.test(text(expected)) && expected(error) === true);
  const raised = (error, expected) => {
    if (!matches(error, expected)) throw error;
    return true;
  };
  const throws = (call, expected, message) => {
    try {
      call();
    } catch (error) {
      return raised(error, expected);
    }
    return fail(message, 'expected an exception');
  };
  const rejects = async (call, expected, message) => {
    try {
      await (typeof call === 'function' ? call() : call);
    } catch (error) {
      return raised(error, expected);
    }
    return fail(message, 'expected a rejection');
  };
  Object.assign(assert, {
    ok: assert, equal, strictEqual: check(is, ' is not '), notEqual: check(not(same), ' is '), notStrictEqual: check(not(is), ' is '),
    deepEqual: check(alike, ' is not '), deepStrictEqual: check(exactly, ' is not '),
    notDeepEqual: check(not(alike), ' is '), notDeepStrictEqual: check(not(exactly), ' is '), throws, rejects, fail,
    doesNotThrow: (call) => call(),
    match: (value, pattern, message) => pattern.test(value) || fail(message, shown(value) + ' does not match'),
  });
  assert.strict = assert;
`;

/**
 * Globals of a program: the part of Node's that tests of small programs use. Evaluates to `[undefined,
 * describe]`.
 */
export const programPrelude = `(function (write, limit, input) {${common}
  let at = 0;
  const readline = () => {
    if (at > input.length) return null;
    let end = input.indexOf('\\n', at);
    if (end < 0) end = input.length;
    const line = cut(input, end).slice(at);
    at = end + 1;
    return line;
  };
  const same = (a, b) => a === b || (a !== a && b !== b);
  ${equality}
  const stdin = {
    setEncoding: () => stdin,
    resume: () => stdin,
    on: (event, listener) => {
      const job = { data: () => input.length > 0 && listener(input), end: () => listener() }[event];
      if (job) apply(then, event === 'data' ? Promised.resolve() : Promised.resolve().then(() => {}), [job]);
      return stdin;
    },
  };
  const modules = { fs: { readFileSync: (file) => {
    if (file === 0 || file === '/dev/stdin') return input;
    throw new Error('expected standard input, got another file');
  } }, assert };
  const holder = { exports: {} };
  globalThis.module = holder;
  globalThis.exports = holder.exports;
  globalThis.print = console.log;
  globalThis.readline = readline;
  globalThis.assert = assert;
  globalThis.process = {
    argv: [], env: {}, stdin,
    stdout: { write: (value) => (put('stdout', text(value)), true) },
    stderr: { write: (value) => (put('stderr', text(value)), true) },
  };
  globalThis.require = (name) => {
    const module = modules[text(name).replace(/^node:/, '')];
    if (!module) throw new Error('no module of this name in the sandbox');
    return module;
  };
  // Time does not pass by itself: the host says how late it is when nothing else is left to do.
  let now = 0;
  let last = 0;
  const timers = new Map();
  const timer = (repeats) => (call, ms, ...args) => {
    const every = Math.max(1, Math.min(2147483647, +ms || 1));
    timers.set(++last, { at: now + every, every: repeats ? every : 0, call, args });
    return last;
  };
  const clear = (id) => void timers.delete(id);
  const { delete: drop, forEach } = Map.prototype;
  const clock = (time) => {
    if (time !== '') now = +time;
    let first;
    apply(forEach, timers, [(one, id) => {
      if (!first || one.at < first[1].at) first = [id, one];
    }]);
    if (time === '' || !first || first[1].at > now) return first ? text(first[1].at) : '';
    const [id, { every, call, args }] = first;
    if (every > 0) first[1].at = now + every;
    else apply(drop, timers, [id]);
    apply(call, undefined, args);
    return '';
  };
  Object.assign(globalThis, {
    setTimeout: timer(false), setInterval: timer(true), setImmediate: (call, ...args) => timer(false)(call, 0, ...args),
    clearTimeout: clear, clearInterval: clear, clearImmediate: clear,
    queueMicrotask: (call) => void apply(then, Promised.resolve(), [() => call()]),
  });
  return [clock, describe];
})`;
