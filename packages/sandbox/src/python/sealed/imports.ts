import { Stop } from './stop.ts';
import type { WasmFunction } from './webassembly.ts';

/** Numbers of errors in WASI. */
const errors = { badFile: 8, denied: 2, notPermitted: 63 } as const;

/**
 * Imports that a sealed interpreter may still call: clocks, randomness, reading files in memory, and calls within its own
 * memory. All other imports could reach JavaScript.
 */
const harmless = new Set([
  ...['environ_sizes_get', 'environ_get', 'clock_res_get', 'clock_time_get', 'fd_sync'],
  ...['random_get', 'fd_fdstat_get', 'fd_seek', 'emscripten_get_now', 'emscripten_date_now'],
  ...['_tzset_js', '_timegm_js', '_mktime_js', '_localtime_js', '_gmtime_js', '_PyEM_TrampolineCall_JS'],
  ...['_Py_emscripten_runtime', '__syscall_getuid32_js', '__syscall_ioctl', '__syscall_fcntl64'],
  ...['__syscall_faccessat', '__syscall_fstat64', '__syscall_stat64', '__syscall_newfstatat'],
  ...['__syscall_lstat64', '__syscall_getcwd', '__syscall_getdents64', '__syscall_readlinkat'],
  ...['emscripten_get_heap_max', '_emscripten_get_progname', 'emscripten_runtime_keepalive_push'],
  ...['emscripten_runtime_keepalive_pop', '_emscripten_runtime_keepalive_clear', '__call_sighandler'],
]);

/** What the guarded imports need of their interpreter. */
export interface Guard {
  /** Throws a {@link Stop} after the deadline. */
  readonly check: () => void;
  /** Bytes for a file, or `undefined` if the file is not ours. */
  readonly read: (file: number, most: number) => Uint8Array | undefined;
  /** Takes bytes for a file. Returns whether the file is ours. */
  readonly write: (file: number, bytes: Uint8Array) => boolean;
  readonly memory: () => ArrayBufferLike;
  readonly maxMemoryBytes: number;
  /** Told that memory was refused. */
  readonly refuse: () => void;
  /** Whether an open file is an ordinary one. */
  readonly isOrdinary: (file: number) => boolean;
  /** Whether an open file is `/dev/null`. */
  readonly isNull: (file: number) => boolean;
}

type Call = (original: WasmFunction, args: readonly number[], guard: Guard) => number;

const leave: Call = (_, [code]) => {
  throw new Stop('exited', `it exited with code ${code}`, code);
};

/** The file that may be written, because nothing keeps what is written there. */
export const nullFile = '/dev/null';

/** A short text in memory that ends with a zero. */
function textAt(memory: ArrayBufferLike, start: number): string {
  const bytes = new Uint8Array(memory, start, Math.min(64, memory.byteLength - start));
  return new TextDecoder().decode(bytes.slice(0, Math.max(0, bytes.indexOf(0))));
}

/** Flags of `open` that change a file: write, read and write, create, truncate, append. */
const changing = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000;

const guarded: Readonly<Record<string, Call>> = {
  proc_exit: leave,
  exit: leave,
  can_run_sync_js: () => 0,
  _Py_CheckEmscriptenSignals_Helper: () => 0,
  fd_read: (original, args, guard) =>
    transfer(args, guard, (file, bytes) => {
      const part = guard.isNull(file) ? new Uint8Array() : guard.read(file, bytes.length);
      if (part) bytes.set(part);
      return part?.length;
    }) ?? (guard.isOrdinary(args[0]!) ? original(...args) : errors.badFile),
  fd_close: (original, args) => (args[0]! <= 2 ? 0 : original(...args)),
  fd_pread: (original, args, guard) => (guard.isOrdinary(args[0]!) ? original(...args) : errors.badFile),
  fd_write: (_, args, guard) =>
    transfer(args, guard, (file, bytes) =>
      guard.isNull(file) || guard.write(file, bytes.slice()) ? bytes.length : undefined,
    ) ?? errors.badFile,
  __syscall_openat: (original, [directory, path, flags, ...more], guard) => {
    if ((flags! & changing) === 0) return original(directory!, path!, flags!, ...more);
    return textAt(guard.memory(), path!) === nullFile
      ? original(directory!, path!, 0, ...more)
      : -errors.denied;
  },
  emscripten_resize_heap: (original, args, guard) => {
    if (args[0]! >>> 0 <= guard.maxMemoryBytes) return original(...args);
    guard.refuse();
    return 0;
  },
};

/**
 * Moves bytes between a file and the pieces of memory that a call lists.
 *
 * Stops at a piece that is not filled. Returns 0 for success, or `undefined` if the file is not ours.
 */
function transfer(
  [file, list, count, result]: readonly number[],
  guard: Guard,
  move: (file: number, bytes: Uint8Array) => number | undefined,
): number | undefined {
  let total = 0;
  for (let k = 0; k < count!; k++) {
    const view = new DataView(guard.memory());
    const [start, size] = [view.getUint32(list! + 8 * k, true), view.getUint32(list! + 8 * k + 4, true)];
    const moved = move(file!, new Uint8Array(guard.memory(), start, size));
    if (moved === undefined) return undefined;
    total += moved;
    if (moved < size) break;
  }
  new DataView(guard.memory()).setUint32(result!, total, true);
  return 0;
}

/** An import that obeys its guard as soon as there is one. */
export function guardedImport(
  name: string,
  original: WasmFunction,
  guard: () => Guard | undefined,
): WasmFunction {
  const call = guarded[name];
  const isSystemCall = name.startsWith('__syscall_');
  return (...args) => {
    const current = guard();
    if (current === undefined) return original(...args);
    current.check();
    if (call !== undefined) return call(original, args, current);
    if (harmless.has(name)) return original(...args);
    if (isSystemCall) return -errors.notPermitted;
    throw new Stop('forbidden', `it tried to leave the interpreter by ${name}`);
  };
}
