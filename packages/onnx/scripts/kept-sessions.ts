/**
 * Keeps compiled graphs while tests run. ONNX Runtime takes 50 ms for the graph of a training step, and tests of backends
 * compile the same few graphs again and again. This reaches engines on the thread of the tests.
 *
 * Engines that are given no number of threads have one. Files of tests use all cores, and a small model's pass takes twice the
 * processor time with two threads.
 */
import { createHash } from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { dirname, join } from 'node:path';

interface Session {
  loadModel(buffer: ArrayBuffer, offset: number, length: number, options: Options): void;
  loadModel(path: string, options: Options): void;
  readonly inputMetadata: unknown;
  readonly outputMetadata: unknown;
  run(...parameters: readonly unknown[]): unknown;
  endProfiling(): void;
  dispose(): void;
}

interface Options {
  readonly enableProfiling?: boolean;
}

interface Binding {
  InferenceSession: new () => Session;
}

/** Sessions by graph and options, the one used last at the end. */
const kept = new Map<string, Session>();
const most = 100;

/** `undefined` for a session that depends on more than its graph: a profile, or files that hold its weights. */
function keyOf(model: Uint8Array, options: Options): string | undefined {
  const text = JSON.stringify(options);
  if (options.enableProfiling || text.includes('external_initializers')) return undefined;
  return createHash('sha256').update(model).update(text).digest('hex');
}

/** The binding's class of sessions, with the same members. */
function keeping(Native: new () => Session): new () => Session {
  return class {
    #native = new Native();
    #isKept = false;

    loadModel(...parameters: [ArrayBuffer, number, number, Options] | [string, Options]): void {
      const [buffer, offset, length, options] = parameters;
      const key =
        typeof buffer === 'string'
          ? undefined
          : keyOf(new Uint8Array(buffer, offset as number, length), options!);
      const old = key === undefined ? undefined : kept.get(key);
      if (old === undefined)
        (this.#native.loadModel as (...all: typeof parameters) => void).apply(this.#native, parameters);
      if (key === undefined) return;
      this.#native = old ?? this.#native;
      this.#isKept = true;
      kept.delete(key);
      kept.set(key, this.#native);
      // A session that is dropped here may still be in use, so the garbage collector frees it.
      if (kept.size > most) kept.delete(kept.keys().next().value!);
    }

    get inputMetadata() {
      return this.#native.inputMetadata;
    }

    get outputMetadata() {
      return this.#native.outputMetadata;
    }

    run(...parameters: readonly unknown[]) {
      return this.#native.run(...parameters);
    }

    endProfiling() {
      this.#native.endProfiling();
    }

    dispose() {
      if (!this.#isKept) this.#native.dispose();
    }
  };
}

const added = Symbol.for('rlp.kept-sessions');
const flags = globalThis as { [added]?: boolean };

// The files of a worker share its process, and each of them comes here.
if (!flags[added]) {
  const require = createRequire(import.meta.url);
  const path = join(dirname(require.resolve('onnxruntime-node')), 'binding.js');
  const { binding } = require(path) as { binding: Binding };
  binding.InferenceSession = keeping(binding.InferenceSession);
  os.availableParallelism = () => 1;
  syncBuiltinESMExports();
}
flags[added] = true;
