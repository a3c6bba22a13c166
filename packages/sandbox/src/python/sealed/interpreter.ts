import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '@rlp/core';
import { joined } from './frames.ts';
import { imageSource, sealSource } from './image-source.ts';
import { type Guard, guardedImport, nullFile } from './imports.ts';
import { Stop } from './stop.ts';
import {
  type WasmFunction,
  type WasmImports,
  type WasmInstance,
  type WasmModule,
  webAssembly,
} from './webassembly.ts';

/** Files of the channels between the worlds: requests in, requests out, the verdict of the tests. */
const files = { input: 0, stderr: 2, inbox: 900, outbox: 901, verdict: 902 } as const;

/** Most bytes that one run may send to the other world. */
const mostMessageBytes = 128 * 1024 * 1024;

/** Calls of Python code that an interpreter makes. Their texts are in its memory. */
const entries = ['_run()', '_serve()', '_serve_tests()', '_verdict()'] as const;
type Entry = (typeof entries)[number];

/** The part of Pyodide that is used. */
interface Pyodide {
  runPython(code: string): unknown;
  makeMemorySnapshot(): Uint8Array;
  readonly FS: FileSystem;
}

interface FileSystem {
  readonly streams: (
    | { readonly path?: string; readonly node?: { readonly mode: number } }
    | null
    | undefined
  )[];
  isFile(mode: number): boolean;
  isDir(mode: number): boolean;
  close(stream: object): void;
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBufferLike };
  readonly __stack_pointer: { value: number };
  readonly Py_EMSCRIPTEN_SIGNAL_HANDLING: { readonly value: number };
  readonly malloc: WasmFunction;
  readonly PyRun_SimpleString: WasmFunction;
  readonly PyGILState_Ensure: () => number;
  readonly PyGILState_Release: (state: number) => void;
}

/** One run's surroundings. */
export interface Surroundings {
  /** Bytes of standard input. */
  readonly input: Uint8Array;
  /** When the run must end, by `performance.now()`. */
  readonly deadline: number;
  /** Most bytes that may be printed. */
  readonly maxOutputBytes: number;
  /** Answers a request that the code sends while it runs. */
  readonly ask: (frame: Uint8Array) => Uint8Array;
}

const nowhere: Surroundings = {
  input: new Uint8Array(),
  deadline: Number.POSITIVE_INFINITY,
  maxOutputBytes: 0,
  ask: () => new Uint8Array(),
};

/**
 * A Python interpreter inside WebAssembly, sealed: of its imports it may call those that reach nothing, and everything that it
 * knows lies in memory that {@link Interpreter.restore} overwrites.
 */
export class Interpreter {
  /** What is printed, as bytes. */
  printed: Record<'stdout' | 'stderr', Uint8Array[]> = { stdout: [], stderr: [] };
  /** Bytes that were written as the verdict. */
  verdict: Uint8Array[] = [];
  /** Whether memory was refused. */
  lacksMemory = false;
  readonly #exports: Exports;
  readonly #fileSystem: FileSystem;
  readonly #image: Uint8Array;
  readonly #stackPointer: number;
  readonly #entries = new Map<Entry, number>();
  readonly #openFiles: number;
  #surroundings = nowhere;
  #inbox: Uint8Array = new Uint8Array();
  #outbox: Uint8Array[] = [];
  #inputAt = 0;
  #bytesLeft = 0;
  #messageBytes = 0;

  constructor({ instance, pyodide }: Loaded, maxMemoryBytes: number, seal: (guard: Guard) => void) {
    this.#exports = instance.exports as unknown as Exports;
    this.#fileSystem = pyodide.FS;
    for (const entry of entries) this.#entries.set(entry, this.#place(entry));
    const memory = new DataView(this.#exports.memory.buffer);
    // The interpreter then calls an import every few instructions, which is where loops end.
    memory.setInt32(this.#exports.Py_EMSCRIPTEN_SIGNAL_HANDLING.value, 1, true);
    this.#image = new Uint8Array(this.#exports.memory.buffer).slice();
    this.#stackPointer = this.#exports.__stack_pointer.value;
    this.#openFiles = this.#fileSystem.streams.length;
    seal({
      check: () => this.#check(),
      read: (file, most) => this.#read(file, most),
      write: (file, bytes) => this.#write(file, bytes),
      memory: () => this.#exports.memory.buffer,
      maxMemoryBytes,
      refuse: () => {
        this.lacksMemory = true;
      },
      isOrdinary: (file) => this.#isOrdinary(file),
      isNull: (file) => this.#fileSystem.streams[file]?.path === nullFile,
    });
  }

  /** Makes the interpreter as it was when it was loaded, whatever ran in it. */
  restore(surroundings: Surroundings): void {
    const memory = new Uint8Array(this.#exports.memory.buffer);
    memory.set(this.#image);
    memory.fill(0, this.#image.length);
    this.#exports.__stack_pointer.value = this.#stackPointer;
    for (let file = this.#fileSystem.streams.length - 1; file >= this.#openFiles; file--) {
      const stream = this.#fileSystem.streams[file];
      if (stream) this.#fileSystem.close(stream);
    }
    this.#surroundings = surroundings;
    this.#inbox = new Uint8Array();
    this.#outbox = [];
    this.#inputAt = 0;
    this.#messageBytes = 0;
    this.#bytesLeft = surroundings.maxOutputBytes;
    this.printed = { stdout: [], stderr: [] };
    this.verdict = [];
    this.lacksMemory = false;
  }

  /**
   * Calls an entry with a request and returns what it wrote.
   *
   * @throws Stop if the code does not go on.
   */
  run(entry: Entry, request: Uint8Array): Uint8Array {
    this.#inbox = request;
    this.#outbox = [];
    try {
      this.#exports.PyRun_SimpleString(this.#entries.get(entry)!);
    } catch (error) {
      throw error instanceof Stop ? error : new Stop('crashed', `the interpreter broke: ${messageOf(error)}`);
    }
    return joined(this.#outbox);
  }

  /** {@link Interpreter.run}, while the interpreter waits for an answer. */
  runWithin(entry: Entry, request: Uint8Array): Uint8Array {
    const state = this.#exports.PyGILState_Ensure();
    const answer = this.run(entry, request);
    // After an exception nothing runs here again before a restore.
    this.#exports.PyGILState_Release(state);
    this.#outbox = [];
    return answer;
  }

  #place(text: string): number {
    const bytes = new TextEncoder().encode(`${text}\0`);
    const address = this.#exports.malloc(bytes.length);
    new Uint8Array(this.#exports.memory.buffer).set(bytes, address);
    return address;
  }

  #check(): void {
    if (performance.now() > this.#surroundings.deadline) throw new Stop('timed-out', 'it ran for too long');
  }

  #read(file: number, most: number): Uint8Array | undefined {
    if (file === files.input) {
      const part = this.#surroundings.input.subarray(this.#inputAt, this.#inputAt + most);
      this.#inputAt += part.length;
      return part;
    }
    if (file !== files.inbox) return undefined;
    if (this.#inbox.length === 0 && this.#outbox.length > 0) {
      const frame = joined(this.#outbox);
      this.#outbox = [];
      this.#inbox = this.#surroundings.ask(frame);
    }
    const part = this.#inbox.subarray(0, most);
    this.#inbox = this.#inbox.subarray(part.length);
    return part;
  }

  #write(file: number, bytes: Uint8Array): boolean {
    if (file === files.outbox || file === files.verdict) {
      this.#messageBytes += bytes.length;
      if (this.#messageBytes > mostMessageBytes)
        throw new Stop('output-too-long', 'its results are too long');
      (file === files.outbox ? this.#outbox : this.verdict).push(bytes);
      return true;
    }
    if (file !== 1 && file !== files.stderr) return false;
    const kept = bytes.subarray(0, this.#bytesLeft);
    this.printed[file === 1 ? 'stdout' : 'stderr'].push(kept);
    this.#bytesLeft -= kept.length;
    if (kept.length < bytes.length) throw new Stop('output-too-long', 'it printed too much');
    return true;
  }

  #isOrdinary(file: number): boolean {
    const mode = this.#fileSystem.streams[file]?.node?.mode;
    return mode !== undefined && (this.#fileSystem.isFile(mode) || this.#fileSystem.isDir(mode));
  }
}

interface Loaded {
  readonly instance: WasmInstance;
  readonly module: WasmModule;
  readonly pyodide: Pyodide;
}

/** What interpreters start from: the memory of one that is prepared, and its code. All threads share it. */
export interface Prepared {
  readonly memory: Uint8Array;
  readonly module: WasmModule;
}

/** Loads interpreters. The first one takes seconds, later ones start from its memory and its compiled code. */
export class InterpreterLoader {
  readonly #maxMemoryBytes: number;
  #prepared: Promise<Prepared> | undefined;

  constructor(maxMemoryBytes: number, prepared: Prepared | undefined) {
    this.#maxMemoryBytes = maxMemoryBytes;
    this.#prepared = prepared && Promise.resolve(prepared);
  }

  /** What later interpreters start from. */
  prepared(): Promise<Prepared> {
    this.#prepared ??= prepare();
    return this.#prepared;
  }

  async load(): Promise<Interpreter> {
    const { memory, module } = await this.prepared();
    let guard: Guard | undefined;
    const loaded = await loadPyodide(() => guard, { _loadSnapshot: memory.slice() }, module);
    loaded.pyodide.runPython(sealSource);
    return new Interpreter(loaded, this.#maxMemoryBytes, (sealed) => {
      guard = sealed;
    });
  }
}

async function prepare(): Promise<Prepared> {
  const { pyodide, module } = await loadPyodide(() => undefined, { _makeSnapshot: true });
  pyodide.runPython(imageSource);
  const snapshot = pyodide.makeMemorySnapshot();
  const memory = new Uint8Array(new SharedArrayBuffer(snapshot.length));
  memory.set(snapshot);
  return { memory, module };
}

/** Loads Pyodide with nothing of JavaScript in reach, and with imports that obey a guard. */
async function loadPyodide(
  guard: () => Guard | undefined,
  options: object,
  compiled?: WasmModule,
): Promise<Loaded> {
  const entry = createRequire(import.meta.url).resolve('pyodide/pyodide.mjs');
  const { loadPyodide: load } = (await import(pathToFileURL(entry).href)) as {
    loadPyodide(options: object): Promise<Pyodide>;
  };
  const { instantiate } = webAssembly;
  let module = compiled;
  let instance: WasmInstance | undefined;
  webAssembly.instantiate = async (source, imports) => {
    // From Node 22 on, Pyodide first tries whether a small module can hold references to values. It imports nothing.
    if (imports === undefined) return instantiate.call(webAssembly, source);
    const guarded = guardedImports(imports, guard);
    // Small modules of Emscripten's own come after the interpreter.
    if (instance !== undefined) return instantiate.call(webAssembly, source, guarded);
    module ??= await webAssembly.compile(source);
    instance = (await instantiate.call(webAssembly, module, guarded)) as WasmInstance;
    return { instance, module };
  };
  try {
    const pyodide = await load({
      indexURL: dirname(entry),
      jsglobals: Object.freeze(Object.create(null)),
      env: { PYTHONHASHSEED: '0' },
      ...options,
    });
    return { instance: instance!, module: module!, pyodide };
  } finally {
    webAssembly.instantiate = instantiate;
  }
}

/** Imports behind a guard. Tables of globals stay as they are. */
function guardedImports(imports: WasmImports, guard: () => Guard | undefined): WasmImports {
  const handler = {
    get: (table: Readonly<Record<string, unknown>>, name: string) => {
      const original = table[name];
      return typeof original === 'function' ? guardedImport(name, original as WasmFunction, guard) : original;
    },
  };
  return Object.fromEntries(
    Object.entries(imports).map(([module, table]) => [
      module,
      module.startsWith('GOT.') ? table : new Proxy(table, handler),
    ]),
  );
}
