import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, Scope } from 'quickjs-emscripten-core';
import { callPrelude, programPrelude } from './guest.ts';
import type { JobReport, SandboxFailureCause } from './protocol.ts';
import type { Watch } from './watch.ts';

type Result = JobReport['result'];

/** A stop with its cause. Only we throw it, never the code. */
export class Stop extends Error {
  readonly failure: SandboxFailureCause;

  constructor(failure: SandboxFailureCause, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** A runtime with one context. */
export interface Realm {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
}

/** One realm: a global object that code may change. It is dropped afterwards. */
export class World {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #scope: Scope;
  readonly #watch: Watch;
  #describe: QuickJSHandle | undefined;
  #clock: QuickJSHandle | undefined;

  constructor(parts: Realm & { readonly scope: Scope; readonly watch: Watch }) {
    this.#runtime = parts.runtime;
    this.#context = parts.context;
    this.#scope = parts.scope;
    this.#watch = parts.watch;
  }

  /** Calls the function in `code` with arguments given as JSON. */
  call(code: string, args: string): Result {
    const start = this.#prepare(callPrelude);
    const f = this.#load(code);
    if (this.#context.typeof(f) !== 'function') {
      throw new Stop('not-a-function', `expected a function, got ${this.#context.typeof(f)}`);
    }
    const context = this.#context;
    const promise = this.#unwrap(
      context.callFunction(start, context.undefined, f, this.#scope.manage(context.newString(args))),
    );
    const text = this.#settled(promise);
    const length = this.#own(context.getProp(text, 'length'));
    if (context.typeof(text) !== 'string') throw new Stop('not-json', 'expected JSON data');
    if (!this.#watch.admits(context.getNumber(length))) {
      throw new Stop('output-too-long', `the result has ${context.getNumber(length)} characters`);
    }
    return read(context.getString(text));
  }

  /**
   * Runs a program to its end.
   *
   * Its value is the awaited value of its last statement. Only a failure has a meaning.
   */
  run(code: string, input: string): Result {
    this.prepareProgram(input);
    const wait = () => passTime([this]);
    this.settled(this.evaluate(code, 'program.js'), () => this.runJobs() || wait());
    while (this.runJobs() || wait());
    return { kind: 'value', json: 'null' };
  }

  /** Sets up the globals of a program. */
  prepareProgram(input: string): void {
    this.#clock = this.#prepare(programPrelude, input);
  }

  /** When the next timer is due. `undefined` if there is none. */
  nextTimer(): number | undefined {
    const due = this.callText(this.#clock!, '');
    return due === '' ? undefined : Number(due);
  }

  /** Lets it be as late as that. Calls at most one timer. */
  setTime(now: number): void {
    this.callText(this.#clock!, String(now));
  }

  /** Value of a script's last statement. */
  evaluate(code: string, file: string): QuickJSHandle {
    return this.#unwrap(this.#context.evalCode(code, file, { type: 'global' }), 'syntax');
  }

  /** Whether a script can be read. Nothing of it runs. */
  compiles(code: string): boolean {
    this.#requireTime();
    const checked = this.#context.evalCode(code, 'check.js', { type: 'global', compileOnly: true });
    (checked.error ?? checked.value).dispose();
    return checked.error === undefined;
  }

  /** A function of the world that takes and gives text. What it throws is thrown in the world. */
  hostFunction(name: string, call: (text: string) => string): QuickJSHandle {
    const context = this.#context;
    return this.#own(
      context.newFunction(name, (text) => {
        this.#requireTime();
        const answer = call(context.getString(text));
        this.#requireTime();
        return context.newString(answer);
      }),
    );
  }

  /** Calls a prelude and returns the first two values of its result. */
  callPair(prelude: string, [ask, notify, flag]: readonly [QuickJSHandle, QuickJSHandle, 'true' | 'false']) {
    const context = this.#context;
    const make = this.#unwrap(context.evalCode(prelude, 'peer.js', { type: 'global' }));
    const role = flag === 'true' ? context.true : context.false;
    const made = this.#unwrap(context.callFunction(make, context.undefined, ask, notify, role));
    return [this.#own(context.getProp(made, 0)), this.#own(context.getProp(made, 1))] as const;
  }

  /** Calls a function that takes and gives text. */
  callText(f: QuickJSHandle, text: string): string {
    const context = this.#context;
    const given = context.newString(text);
    const result = context.callFunction(f, context.undefined, given);
    given.dispose();
    if (result.error !== undefined) throw this.#thrown(this.#own(result.error));
    const answer = context.getString(result.value);
    result.value.dispose();
    this.#requireTime();
    return answer;
  }

  /** Runs what waits. Returns whether there was anything. */
  runJobs(): boolean {
    const had = this.#runtime.hasPendingJob();
    while (this.#runtime.hasPendingJob() && !this.#watch.isOver()) {
      const done = this.#runtime.executePendingJobs(100);
      done.error?.dispose();
    }
    this.#requireTime();
    return had;
  }

  /** Waits for a promise while `goOn` finds something to do, or else `wait`. */
  settled(promise: QuickJSHandle, goOn: () => boolean, wait = () => false): void {
    while (this.#context.getPromiseState(promise).type === 'pending' && (goOn() || wait()));
    this.#settled(promise);
    goOn();
  }

  #requireTime(): void {
    if (this.#watch.isOver()) throw new Stop('timed-out', '');
  }

  /** Sets up the world. Returns the first value of the prelude's result. */
  #prepare(prelude: string, input = ''): QuickJSHandle {
    const context = this.#context;
    const write = this.#own(
      context.newFunction('write', (stream, text) => {
        this.#watch.write(context.getString(stream), context.getString(text));
        return this.#watch.isOver() ? context.true : context.false;
      }),
    );
    const make = this.#unwrap(context.evalCode(prelude, 'prelude.js', { type: 'global' }));
    const limit = this.#own(context.newNumber(10_000_000));
    const text = this.#own(context.newString(input));
    const made = this.#unwrap(context.callFunction(make, context.undefined, write, limit, text));
    this.#describe = this.#own(context.getProp(made, 1));
    return this.#own(context.getProp(made, 0));
  }

  /** The function in `code`: its default export, or the value of its expression. */
  #load(code: string): QuickJSHandle {
    const context = this.#context;
    const expression = `(${code}\n)`;
    // A text or a comment may have the words, too.
    if (!/\bexport\s+default\b/.test(code) || this.compiles(expression)) {
      return this.#unwrap(
        context.evalCode(expression, 'code.js', { type: 'global', strict: true }),
        'syntax',
      );
    }
    const exported = this.#unwrap(context.evalCode(code, 'code.js', { type: 'module' }), 'syntax');
    return this.#own(context.getProp(this.#settled(exported), 'default'));
  }

  /** Result of a promise after no jobs are left to run. Other values are returned unchanged. */
  #settled(promise: QuickJSHandle): QuickJSHandle {
    this.runJobs();
    const state = this.#context.getPromiseState(promise);
    if (state.type === 'pending') {
      throw new Stop('unsettled', 'its promise never settles: nothing is left to run');
    }
    if (state.type === 'rejected') throw this.#thrown(this.#own(state.error));
    return state.notAPromise ? promise : this.#own(state.value);
  }

  #own(handle: QuickJSHandle): QuickJSHandle {
    return this.#scope.manage(handle);
  }

  #unwrap(
    result: ReturnType<QuickJSContext['evalCode']>,
    syntax: SandboxFailureCause = 'threw',
  ): QuickJSHandle {
    if (result.error === undefined) return this.#own(result.value);
    throw this.#thrown(this.#own(result.error), syntax);
  }

  /** Description of a thrown value. Describing it runs code of the sandbox, with the same limits. */
  #thrown(error: QuickJSHandle, syntax: SandboxFailureCause = 'threw'): Stop {
    if (this.#watch.isOver() || this.#describe === undefined) return new Stop('threw', '');
    const context = this.#context;
    const described = context.callFunction(this.#describe, context.undefined, error);
    if (described.error !== undefined) {
      described.error.dispose();
      return new Stop('threw', 'something that cannot be shown');
    }
    const message = context.getString(this.#own(described.value));
    return new Stop(causeOf(message, syntax), message);
  }
}

/** Lets time pass up to the next timer of any of these worlds. Returns whether there was one. */
export function passTime(worlds: readonly World[]): boolean {
  const next = Math.min(...worlds.map((world) => world.nextTimer() ?? Infinity));
  if (next === Infinity) return false;
  for (const world of worlds) world.setTime(next);
  return true;
}

/** Reads the guest's description of a value. See `callPrelude`. */
function read(text: string): Result {
  const rest = text.slice(1);
  if (text.startsWith('v')) return { kind: 'value', json: rest };
  return text.startsWith('j')
    ? failure(causeOf(rest, 'threw', 'not-json'), rest)
    : failure(causeOf(rest), rest);
}

function causeOf(
  message: string,
  syntax: SandboxFailureCause = 'threw',
  other: SandboxFailureCause = 'threw',
): SandboxFailureCause {
  if (message.startsWith('InternalError: out of memory')) return 'out-of-memory';
  if (/^(Internal|Syntax)Error: stack overflow/.test(message)) return 'stack-overflow';
  return message.startsWith('SyntaxError') ? syntax : other;
}

export function failure(cause: SandboxFailureCause, message: string): Result {
  return { kind: 'failure', cause, message };
}
