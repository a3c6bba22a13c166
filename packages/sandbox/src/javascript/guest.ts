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
  const fail = (message) => {
    throw new Error('AssertionError: ' + (message ?? 'assertion failed'));
  };
  const assert = (value, message) => value || fail(message);
  const equal = (a, b, message) => Object.is(a, b) || fail(message ?? shown(a) + ' is not ' + shown(b));
  const deepEqual = (a, b, message) => equal(shown(a), shown(b), message);
  Object.assign(assert, { ok: assert, equal, strictEqual: equal, deepEqual, deepStrictEqual: deepEqual });
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
  return [undefined, describe];
})`;
