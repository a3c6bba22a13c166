import { EngineError } from '@rlp/core';

import type { NativeRuntime, NativeSession } from './native.ts';

/** Cells of the shared memory. */
const underWay = 0;
const forbidden = 1;

/**
 * Keeps a thread from being ended inside ONNX Runtime: its binding then throws where nobody can catch, which aborts the whole
 * process. The engine's thread announces its native calls in shared memory; whoever wants to end the thread forbids new ones
 * and waits until those under way have returned.
 */
export class NativeGuard {
  /** To be handed to the other thread. */
  readonly memory: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(memory = new SharedArrayBuffer(8)) {
    this.memory = memory;
    this.#cells = new Int32Array(memory);
  }

  /** Runs native code. Throws an EngineError once that is forbidden. */
  async during<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    Atomics.add(this.#cells, underWay, 1);
    try {
      if (Atomics.load(this.#cells, forbidden) === 1) throw new EngineError('the engine was closed');
      return await work();
    } finally {
      Atomics.sub(this.#cells, underWay, 1);
      Atomics.notify(this.#cells, underWay);
    }
  }

  /** Forbids native calls and resolves once none is under way, or after the limit. */
  async quiet(limitMs: number): Promise<'quiet' | 'busy'> {
    Atomics.store(this.#cells, forbidden, 1);
    for (const end = performance.now() + limitMs; performance.now() < end; ) {
      if (Atomics.load(this.#cells, underWay) === 0) return 'quiet';
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return Atomics.load(this.#cells, underWay) === 0 ? 'quiet' : 'busy';
  }

  /** {@link NativeGuard.quiet} that blocks the thread, for a process that is ending. */
  quietNow(limitMs: number): void {
    Atomics.store(this.#cells, forbidden, 1);
    for (const end = performance.now() + limitMs; performance.now() < end; ) {
      const calls = Atomics.load(this.#cells, underWay);
      if (calls === 0) return;
      Atomics.wait(this.#cells, underWay, calls, end - performance.now());
    }
  }
}

/** ONNX Runtime whose calls are announced to a guard. */
export function guardedRuntime(runtime: NativeRuntime, guard: NativeGuard): NativeRuntime {
  return {
    access: runtime.access,
    note: runtime.note,
    backends: () => runtime.backends(),
    tensor: (...tensor) => runtime.tensor(...tensor),
    createSession: async (model, options) =>
      guardedSession(await guard.during(() => runtime.createSession(model, options)), guard),
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

/** How long a process that ends waits for native code: a step of a large model, but no stuck driver. */
const exitLimitMs = 5_000;

const guards = new Set<NativeGuard>();

function onExit(): void {
  for (const guard of guards) guard.quietNow(exitLimitMs);
}

/** Has a process that ends wait until the guarded thread is out of native code, for 5 seconds at most. Returns what undoes it. */
export function guardExit(guard: NativeGuard): () => void {
  if (guards.size === 0) process.on('exit', onExit);
  guards.add(guard);
  return () => {
    if (guards.delete(guard) && guards.size === 0) process.off('exit', onExit);
  };
}
