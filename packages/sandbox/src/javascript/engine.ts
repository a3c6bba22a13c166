import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as releaseBuild from '@jitl/quickjs-wasmfile-release-sync';
import { messageOf } from '@rlp/core';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
  Scope,
} from 'quickjs-emscripten-core';
import type { JobReport, JobRequest, SandboxFailureCause } from './protocol.ts';
import { TestWorlds } from './test-worlds.ts';
import { Watch } from './watch.ts';
import { failure, type Realm, Stop, World } from './world.ts';

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
   * Runs a job with a fresh global object. Tests run in another engine, `harness`.
   *
   * `isReusable` is true after a value or an ordinary exception. After anything else, the engine may be
   * damaged.
   */
  execute(
    { job, ...limits }: JobRequest,
    harness?: Engine,
  ): { readonly report: JobReport; readonly isReusable: boolean } {
    const watch = new Watch(limits, () => performance.now());
    let result: Result | undefined;
    let isReusable = false;
    try {
      const realm = this.#newRealm(watch);
      const tests = job.kind === 'tests' ? harness!.#newRealm(watch) : undefined;
      result = runIn((scope) => {
        const world = new World({ ...realm, scope, watch });
        if (job.kind === 'call') return world.call(job.code, job.args);
        if (job.kind === 'program') return world.run(job.code, job.input);
        return new TestWorlds(world, new World({ ...tests!, scope, watch })).run(job.code, job.test);
      });
      for (const { context, runtime } of tests ? [realm, tests] : [realm]) {
        context.dispose();
        runtime.dispose();
      }
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

function runIn(work: (scope: Scope) => Result): Result {
  return Scope.withScope((scope) => {
    try {
      return work(scope);
    } catch (error) {
      if (error instanceof Stop) return failure(error.failure, error.message);
      throw error;
    }
  });
}

function isBreach(result: Result): boolean {
  return result.kind === 'failure' && !harmless.has(result.cause);
}

const harmless = new Set<SandboxFailureCause>(['syntax', 'not-a-function', 'threw', 'not-json', 'unsettled']);

/** Converts a trap of the engine: the thread's stack ran out, or the engine is broken. */
function failureOf(error: unknown): Result {
  const message = messageOf(error);
  if (/call stack/i.test(message)) return failure('stack-overflow', 'the engine ran out of stack');
  if (/memory|alloc/i.test(message)) return failure('out-of-memory', message);
  return failure('crashed', message);
}

function breachMessage(breach: NonNullable<Watch['breach']>, limits: Omit<JobRequest, 'job'>): string {
  return breach === 'timed-out'
    ? `it ran for more than ${limits.timeoutMs} ms`
    : `it printed more than ${limits.maxOutputCharacters} characters`;
}
