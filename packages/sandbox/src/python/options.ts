import * as z from 'zod';

const mebibyte = 1_048_576;

/** Schema of {@link PythonRunnerOptions}. */
export const pythonOptionsSchema = z.strictObject({
  executable: z.string().min(1).default('python3'),
  launcher: z
    .union([z.enum(['namespaces-if-possible', 'namespaces', 'none']), z.array(z.string()).min(1).readonly()])
    .default('namespaces-if-possible'),
  packages: z.enum(['none', 'installed']).default('none'),
  memoryBytes: z
    .int()
    .min(64 * mebibyte, 'must be at least 64 MiB: Python itself needs some')
    .default(512 * mebibyte),
  maxOutputBytes: z.int().positive().default(1_000_000),
});

/** How Python programs are run. */
export interface PythonRunnerOptions {
  /** The interpreter, 3.8 or later. Default `python3`. */
  readonly executable?: string | undefined;
  /**
   * Command that starts the interpreter. Default `'namespaces-if-possible'`.
   *
   * - `'namespaces'`: `unshare`, which takes away the network and hides other processes. Needs Linux that permits it.
   * - `'namespaces-if-possible'`: `unshare` if it works, else nothing.
   * - `'none'`: nothing.
   * - A list: your command, such as `['bwrap', '--unshare-all', '--ro-bind', '/', '/', '--die-with-parent']`.
   */
  readonly launcher?: 'namespaces-if-possible' | 'namespaces' | 'none' | readonly string[] | undefined;
  /** What programs may import besides the standard library. Default `'none'`. */
  readonly packages?: 'none' | 'installed' | undefined;
  /** Address space of a program. Default 512 MiB. */
  readonly memoryBytes?: number | undefined;
  /** Bytes that a program may print, to both streams together. Default 1 000 000. */
  readonly maxOutputBytes?: number | undefined;
}
