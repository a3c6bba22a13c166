import * as z from 'zod';

const mebibyte = 1_048_576;

/** Schema of {@link PythonRunnerOptions}. */
export const pythonOptionsSchema = z.strictObject({
  /** Python interpreter, 3.8 or later. Default `'python3'`. */
  executable: z.string().min(1).default('python3'),
  /**
   * Command that starts the interpreter. Default `'namespaces-if-possible'`.
   *
   * - `'namespaces'`: `unshare`, which removes the network and hides other processes. Needs a Linux that permits it.
   * - `'namespaces-if-possible'`: `unshare` if it works, otherwise no command.
   * - `'none'`: no command.
   * - A list: your command, such as `['bwrap', '--unshare-all', '--ro-bind', '/', '/', '--die-with-parent']`.
   */
  launcher: z
    .union([z.enum(['namespaces-if-possible', 'namespaces', 'none']), z.array(z.string()).min(1).readonly()])
    .default('namespaces-if-possible'),
  /** Packages that programs may import besides the standard library. Default `'none'`. */
  packages: z.enum(['none', 'installed']).default('none'),
  /** Address space of a program in bytes. Default 512 MiB. */
  memoryBytes: z
    .int()
    .min(64 * mebibyte, 'must be at least 64 MiB: Python itself needs some')
    .default(512 * mebibyte),
  /** Maximum bytes that a program may print, to both streams together. Default 1000000. */
  maxOutputBytes: z.int().positive().default(1_000_000),
});

/** Options of {@link pythonRunner}. */
export interface PythonRunnerOptions extends z.input<typeof pythonOptionsSchema> {}
