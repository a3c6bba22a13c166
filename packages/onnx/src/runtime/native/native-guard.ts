import { EngineError } from '@rlp/core';

import type { DeviceMemory, NativeRuntime, NativeSession } from './native.ts';

/** Cells of the shared memory. */
const underWay = 0;
const forbidden = 1;

/**
 * Prevents a thread from being terminated inside ONNX Runtime.
 *
 * Otherwise the binding throws where nothing can catch, which aborts the process. The engine's thread
 * announces its native calls in shared memory. To terminate the thread, forbid new calls and wait until the
 * running ones have returned.
 */
export class NativeGuard {
  /** Memory to share with the other thread. */
  readonly memory: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(memory = new SharedArrayBuffer(8)) {
    this.memory = memory;
    this.#cells = new Int32Array(memory);
  }

  /** Runs native code. Throws an EngineError if native calls are forbidden. */
  async during<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    try {
      this.#enter();
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** {@link NativeGuard.during} of native code that returns at once. */
  now<Result>(work: () => Result): Result {
    try {
      this.#enter();
      return work();
    } finally {
      this.#leave();
    }
  }

  /** Forbids native calls. Resolves when none is running, or after the limit. */
  async quiet(limitMs: number): Promise<'quiet' | 'busy'> {
    Atomics.store(this.#cells, forbidden, 1);
    for (const end = performance.now() + limitMs; performance.now() < end; ) {
      if (Atomics.load(this.#cells, underWay) === 0) return 'quiet';
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return Atomics.load(this.#cells, underWay) === 0 ? 'quiet' : 'busy';
  }

  #enter(): void {
    Atomics.add(this.#cells, underWay, 1);
    if (Atomics.load(this.#cells, forbidden) === 1)
      throw new EngineError('the engine was closed; create another one');
  }

  #leave(): void {
    Atomics.sub(this.#cells, underWay, 1);
    Atomics.notify(this.#cells, underWay);
  }

  /** {@link NativeGuard.quiet}, but blocks the thread. For a process that is about to exit. */
  quietNow(limitMs: number): void {
    Atomics.store(this.#cells, forbidden, 1);
    for (const end = performance.now() + limitMs; performance.now() < end; ) {
      const calls = Atomics.load(this.#cells, underWay);
      if (calls === 0) return;
      Atomics.wait(this.#cells, underWay, calls, end - performance.now());
    }
  }
}

/** Wraps ONNX Runtime so that its calls are announced to a guard. */
export function guardedRuntime(runtime: NativeRuntime, guard: NativeGuard): NativeRuntime {
  return {
    access: runtime.access,
    note: runtime.note,
    backends: () => runtime.backends(),
    tensor: (...tensor) => runtime.tensor(...tensor),
    memory: runtime.memory && guardedMemory(runtime.memory, guard),
    createSession: async (model, options) =>
      guardedSession(await guard.during(() => runtime.createSession(model, options)), guard),
  };
}

function guardedMemory(memory: DeviceMemory, guard: NativeGuard): DeviceMemory {
  return {
    zeros: (...call) => guard.now(() => memory.zeros(...call)),
    window: (...call) => guard.now(() => memory.window(...call)),
    copy: (...call) => guard.now(() => memory.copy(...call)),
    release: () => guard.during(() => memory.release()),
  };
}

function guardedSession(session: NativeSession, guard: NativeGuard): NativeSession {
  return {
    inputNames: session.inputNames,
    outputNames: session.outputNames,
    run: (...call) => guard.during(() => session.run(...call)),
    endProfiling: () => session.endProfiling(),
    release: () => guard.during(() => session.release()),
  };
}

/** How long an exiting process waits for native code. Long enough for a step of a large model. */
const exitLimitMs = 5_000;

const guards = new Set<NativeGuard>();

function onExit(): void {
  for (const guard of guards) guard.quietNow(exitLimitMs);
}

/**
 * Makes an exiting process wait until the guarded thread has left native code, at most 5 seconds.
 *
 * Returns a function that removes the handler.
 */
export function guardExit(guard: NativeGuard): () => void {
  if (guards.size === 0) process.on('exit', onExit);
  guards.add(guard);
  return () => {
    if (guards.delete(guard) && guards.size === 0) process.off('exit', onExit);
  };
}
