import { EngineError } from '@rlp/core';
import { type FunctionName, functions } from './functions.ts';

/** The parts of koffi that are used. */
export interface Koffi {
  load(path: string): { func(definition: string): (...argument: never[]) => unknown };
  decode(pointer: Pointer, type: unknown, length?: number): unknown;
  call(pointer: Pointer, type: unknown, ...argument: readonly unknown[]): unknown;
  proto(result: string, argument: readonly string[]): unknown;
  view(pointer: Pointer, bytes: number): ArrayBuffer;
}

/** Address in the process. */
export type Pointer = bigint;

/** The oldest version of the table that has all {@link functions}. */
const TABLE_VERSION = 23;

type Call = (...argument: readonly unknown[]) => unknown;

/**
 * ONNX Runtime's C interface.
 *
 * For what its JavaScript packages cannot do: keep tensors in the memory of a CUDA device, and write outputs in place.
 */
export class OrtInterface {
  readonly #koffi: Koffi;
  readonly #calls: Readonly<Record<FunctionName, Call>>;

  /**
   * @param library - Path of `libonnxruntime.so.1`.
   * @throws EngineError if it is too old.
   */
  constructor(koffi: Koffi, library: string) {
    this.#koffi = koffi;
    const base = koffi.load(library).func('void *OrtGetApiBase()')() as Pointer;
    const [getTable] = koffi.decode(base, 'void *', 1) as [Pointer];
    const table = koffi.call(getTable, koffi.proto('void *', ['uint32_t']), TABLE_VERSION) as Pointer | null;
    if (table === null)
      throw new EngineError(`${library} is older than ONNX Runtime 1.23; install a newer one`);
    const places = Object.values(functions).map(([place]) => place);
    const pointers = koffi.decode(table, 'void *', Math.max(...places) + 1) as readonly Pointer[];
    const calls = Object.entries(functions).map(([name, [place, result, argument]]) => {
      const type = result === 'status' ? 'void *' : result;
      const call = koffi.decode(pointers[place]!, koffi.proto(type, argument)) as Call;
      return [name, result === 'status' ? this.#checked(call) : call];
    });
    this.#calls = Object.fromEntries(calls) as Record<FunctionName, Call>;
  }

  /** Calls a function. @throws Error with ONNX Runtime's message if its status says that it failed. */
  call(name: FunctionName, ...argument: readonly unknown[]): unknown {
    return this.#calls[name](...argument);
  }

  /** Calls a function whose last argument is where it writes a pointer. */
  make(name: FunctionName, ...argument: readonly unknown[]): Pointer {
    const out = new BigUint64Array(1);
    this.call(name, ...argument, out);
    return out[0]!;
  }

  /** Calls a function whose last argument is where it writes a 32-bit number. */
  number(name: FunctionName, ...argument: readonly unknown[]): number {
    const out = new Int32Array(1);
    this.call(name, ...argument, out);
    return out[0]!;
  }

  /** Text at an address. */
  text(pointer: Pointer): string {
    return this.#koffi.decode(pointer, 'char', -1) as string;
  }

  /** Addresses at an address. */
  pointers(pointer: Pointer, count: number): readonly Pointer[] {
    return this.#koffi.decode(pointer, 'void *', count) as readonly Pointer[];
  }

  /** Memory at an address. It is ONNX Runtime's, so copy what is needed for longer. */
  memory(pointer: Pointer, bytes: number): ArrayBuffer {
    return this.#koffi.view(pointer, bytes);
  }

  #checked(call: Call): Call {
    return (...argument) => {
      const status = call(...argument) as Pointer | null;
      if (status === null || status === 0n) return;
      const message = this.call('GetErrorMessage', status) as string;
      this.call('ReleaseStatus', status);
      throw new Error(message);
    };
  }
}
