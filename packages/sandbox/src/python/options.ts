import * as z from 'zod';

const mebibyte = 1_048_576;

/** Schema of {@link PythonRunnerOptions}. */
export const pythonOptionsSchema = z.strictObject({
  /**
   * What runs the programs. Default `'webassembly'`.
   *
   * - `'webassembly'`: Python 3.14 of the package `pyodide`, an optional peer. Programs reach no file, network or process of
   *   the host, on any system.
   * - `'native'`: an interpreter of the host, in a process. Needs `launcher`.
   */
  interpreter: z.enum(['webassembly', 'native']).default('webassembly'),
  /** WebAssembly: number of threads, so of programs that run at once. They start on first use. Default 1. */
  threads: z.int().positive().max(64).default(1),
  /** Native: Python interpreter, 3.9 or later. Default `'python3'`. */
  executable: z.string().min(1).default('python3'),
  /**
   * Native: command that isolates the interpreter. Default `'namespaces'`.
   *
   * - `'namespaces'`: `unshare`, which removes the network and hides other processes. Needs a Linux that permits it. Without
   *   it nothing runs.
   * - `'none'`: no command. Programs can read the environment and files of your processes.
   * - A list: your command, such as `['bwrap', '--unshare-all', '--ro-bind', '/', '/', '--die-with-parent']`.
   */
  launcher: z
    .union([z.enum(['namespaces', 'none']), z.array(z.string()).min(1).readonly()])
    .default('namespaces'),
  /** Native: packages that programs may import besides the standard library. Default `'none'`. */
  packages: z.enum(['none', 'installed']).default('none'),
  /** Memory of a program in bytes. Default 512 MiB. */
  memoryBytes: z
    .int()
    .min(64 * mebibyte, 'must be at least 64 MiB: Python itself needs some')
    .default(512 * mebibyte),
  /** Maximum bytes that a program may print, to both streams together. Default 1000000. */
  maxOutputBytes: z.int().positive().default(1_000_000),
});

/** Options of {@link pythonRunner}. */
export interface PythonRunnerOptions extends z.input<typeof pythonOptionsSchema> {}

/** {@link PythonRunnerOptions} with defaults. */
export type ResolvedPythonOptions = z.output<typeof pythonOptionsSchema>;
