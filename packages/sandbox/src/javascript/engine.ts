import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as releaseBuild from '@jitl/quickjs-wasmfile-release-sync';
import { messageOf } from '@rlp/core';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
  Scope,
} from 'quickjs-emscripten-core';
import { callPrelude, programPrelude } from './guest.ts';
import type { Job, JobReport, JobRequest, SandboxFailureCause } from './protocol.ts';
import { Watch } from './watch.ts';

/** The part of WebAssembly that is used. TypeScript declares it only together with the whole DOM. */
interface WebAssemblyGlobal {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WebAssemblyMemory;
}

interface WebAssemblyMemory {
  readonly buffer: { readonly byteLength: number };
}

/** The build. It has CommonJS types, with the default export one level further in. */
const variant = releaseBuild.default as unknown as QuickJSSyncVariant;

const pageBytes = 65_536;
/** Initial memory of the engine, 16 MiB, as it was built. */
const initialPages = 256;
const stackBytes = 262_144;

type Result = JobReport['result'];

/** A stop with its cause. Only we throw it, never the code. */
class Stop extends Error {
  readonly failure: SandboxFailureCause;

  constructor(failure: SandboxFailureCause, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** Loads engines. The machine code is shared, the memory is separate for each. */
export function engineLoader(memoryBytes: number): () => Promise<Engine> {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyGlobal };
  const file = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
  const wasmModule = new WebAssembly.Module(readFileSync(file));
  return async () => {
    // The engine's own limit ignores the overhead of blocks. The end of its memory is a hard limit.
    const wasmMemory = new WebAssembly.Memory({
      initial: initialPages,
      maximum: Math.ceil(memoryBytes / pageBytes),
    });
    const module = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule, wasmMemory }));
    return new Engine(module, wasmMemory, memoryBytes);
  };
}

/** A JavaScript engine inside WebAssembly. Code in it cannot reach anything outside. Blocks its thread. */
export class Engine {
  readonly #module: QuickJSWASMModule;
  readonly #memory: WebAssemblyMemory;
  readonly #memoryBytes: number;

  constructor(module: QuickJSWASMModule, memory: WebAssemblyMemory, memoryBytes: number) {
    this.#module = module;
    this.#memory = memory;
    this.#memoryBytes = memoryBytes;
  }

  /**
   * Runs a job with a fresh global object.
   *
   * `isReusable` is true after a value or an ordinary exception. After anything else, the engine may be
   * damaged.
   */
  execute({ job, ...limits }: JobRequest): { readonly report: JobReport; readonly isReusable: boolean } {
    const watch = new Watch(limits, () => performance.now());
    let result: Result | undefined;
    let isReusable = false;
    try {
      const realm = this.#newRealm(watch);
      result = runIn(realm, job, watch);
      realm.context.dispose();
      realm.runtime.dispose();
      isReusable = true;
    } catch (error) {
      // The engine may also break during the clean-up after a result.
      result ??= failureOf(error);
    }
    if (this.#lacksMemory(result)) result = failure('out-of-memory', 'it used up the memory');
    if (watch.breach !== undefined) result = failure(watch.breach, breachMessage(watch.breach, limits));
    return { report: watch.report(result), isReusable: isReusable && !isBreach(result) };
  }

  #newRealm(watch: Watch): Realm {
    const runtime = this.#module.newRuntime();
    runtime.setMaxStackSize(stackBytes);
    runtime.setInterruptHandler(() => watch.isOver());
    return { runtime, context: runtime.newContext() };
  }

  /** Without memory for an error, the engine throws null. */
  #lacksMemory(result: Result): boolean {
    const isFull = this.#memory.buffer.byteLength > 0.9 * this.#memoryBytes;
    return isFull && result.kind === 'failure' && result.cause === 'threw' && result.message === 'null';
  }
}

interface Realm {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
}

function runIn(realm: Realm, job: Job, watch: Watch): Result {
  return Scope.withScope((scope) => {
    const world = new World({ ...realm, scope, watch });
    try {
      return job.kind === 'call' ? world.call(job.code, job.args) : world.run(job.code, job.input);
    } catch (error) {
      if (error instanceof Stop) return failure(error.failure, error.message);
      throw error;
    }
  });
}

function isBreach(result: Result): boolean {
  return result.kind === 'failure' && !harmless.has(result.cause);
}

/** One realm: a global object that code may change. It is dropped afterwards. */
class World {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #scope: Scope;
  readonly #watch: Watch;
  #describe: QuickJSHandle | undefined;

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
    this.#prepare(programPrelude, input);
    const last = this.#unwrap(this.#context.evalCode(code, 'program.js', { type: 'global' }), 'syntax');
    this.#settled(last);
    return { kind: 'value', json: 'null' };
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
    if (!/\bexport\s+default\b/.test(code)) {
      return this.#unwrap(
        context.evalCode(`(${code}\n)`, 'code.js', { type: 'global', strict: true }),
        'syntax',
      );
    }
    const exported = this.#unwrap(context.evalCode(code, 'code.js', { type: 'module' }), 'syntax');
    return this.#own(context.getProp(this.#settled(exported), 'default'));
  }

  /** Result of a promise after no jobs are left to run. Other values are returned unchanged. */
  #settled(promise: QuickJSHandle): QuickJSHandle {
    while (this.#runtime.hasPendingJob() && !this.#watch.isOver()) {
      const done = this.#runtime.executePendingJobs(100);
      done.error?.dispose();
    }
    if (this.#watch.isOver()) throw new Stop('timed-out', '');
    const state = this.#context.getPromiseState(promise);
    if (state.type === 'pending') {
      throw new Stop('unsettled', 'its promise never settles: there are no timers and nothing left to run');
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

/** Reads the guest's description of a value. See `callPrelude`. */
function read(text: string): Result {
  const rest = text.slice(1);
  if (text.startsWith('v')) return { kind: 'value', json: rest };
  return text.startsWith('j')
    ? failure(causeOf(rest, 'threw', 'not-json'), rest)
    : failure(causeOf(rest), rest);
}

const harmless = new Set<SandboxFailureCause>(['syntax', 'not-a-function', 'threw', 'not-json', 'unsettled']);

function causeOf(
  message: string,
  syntax: SandboxFailureCause = 'threw',
  other: SandboxFailureCause = 'threw',
): SandboxFailureCause {
  if (message.startsWith('InternalError: out of memory')) return 'out-of-memory';
  if (/^(Internal|Syntax)Error: stack overflow/.test(message)) return 'stack-overflow';
  return message.startsWith('SyntaxError') ? syntax : other;
}

/** Converts a trap of the engine: the thread's stack ran out, or the engine is broken. */
function failureOf(error: unknown): Result {
  const message = messageOf(error);
  if (/call stack/i.test(message)) return failure('stack-overflow', 'the engine ran out of stack');
  if (/memory|alloc/i.test(message)) return failure('out-of-memory', message);
  return failure('crashed', message);
}

function failure(cause: SandboxFailureCause, message: string): Result {
  return { kind: 'failure', cause, message };
}

function breachMessage(breach: NonNullable<Watch['breach']>, limits: Omit<JobRequest, 'job'>): string {
  return breach === 'timed-out'
    ? `it ran for more than ${limits.timeoutMs} ms`
    : `it printed more than ${limits.maxOutputCharacters} characters`;
}
