import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { callback, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { namedPath } from '../store/named-path.ts';
import { repairLastLine } from './repair-last-line.ts';

type Write = (descriptor: number, bytes: Uint8Array, offset: number) => number;

const schema = z.strictObject({
  /** File to append to. Missing directories and files are created. Required. */
  path: z.string().min(1),
  /** `'lines'` repairs a torn last line when it opens the file. `'bytes'` does not. Default `'lines'`. */
  content: z.enum(['lines', 'bytes']).default('lines'),
  /**
   * Maximum file size in bytes. A larger file moves to `path.1`, that one to `path.2`, and so on. Default: no
   * limit.
   */
  maxBytes: z.int().min(1024).optional(),
  /** Number of older files to keep after a rotation. Default 3. */
  keep: z.int().min(0).default(3),
  /** Writes bytes from an offset and returns the number written. Default: `writeSync`. */
  write: callback<Write>().default(() => writeSync),
});

/** Options of {@link AppendFile}. */
export interface AppendFileOptions extends z.input<typeof schema> {}

/**
 * A file that one process appends to. The first append opens it.
 *
 * Bytes are with the operating system when `append` returns, so a crash of the process loses none. `close`
 * flushes them to disk. After a partial write, such as on a full disk, the next append first removes the
 * partial data. Opening the file removes a last line that a crash cut short, and adds a missing line break to
 * a whole one.
 */
export class AppendFile {
  readonly #options: z.output<typeof schema>;
  #descriptor: number | undefined;
  #size = 0;
  /** False for devices and pipes, which cannot be truncated or flushed. */
  #isFile = true;
  /** Whether bytes of a failed write may follow the first `#size` bytes. */
  #isTorn = false;

  /** @throws OptionsError naming every problem. */
  constructor(options: AppendFileOptions) {
    this.#options = parseOptions('AppendFile', schema, options);
  }

  /** Opens and repairs the file now. Not needed before `append`. @throws the system's error. */
  open(): void {
    if (this.#descriptor !== undefined) return;
    const { path, content } = this.#options;
    mkdirSync(dirname(path), { recursive: true });
    const descriptor = openSync(path, 'a+');
    try {
      if (content === 'lines') repairLastLine(descriptor);
      const status = fstatSync(descriptor);
      this.#size = status.size;
      this.#isFile = status.isFile();
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    this.#descriptor = descriptor;
  }

  /**
   * Appends text or bytes. A line needs its line break.
   *
   * @throws the system's error. The file then ends as before.
   */
  append(data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const { maxBytes = Infinity, write } = this.#options;
    this.open();
    if (this.#isTorn) this.#removeTorn(this.#descriptor!);
    if (this.#size > 0 && this.#size + bytes.length > maxBytes) this.#rotate();
    let written = 0;
    try {
      while (written < bytes.length) written += write(this.#descriptor!, bytes, written);
    } catch (error) {
      this.#isTorn = this.#isFile && written > 0;
      throw namedPath(error, this.#options.path);
    }
    this.#size += bytes.length;
  }

  /** Flushes the file to disk and closes it. A later append opens it again. @throws the system's error. */
  close(): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return;
    this.#descriptor = undefined;
    try {
      if (this.#isTorn) this.#removeTorn(descriptor);
      if (this.#isFile) fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  #removeTorn(descriptor: number): void {
    ftruncateSync(descriptor, this.#size);
    this.#isTorn = false;
  }

  #rotate(): void {
    const { path, keep } = this.#options;
    this.close();
    for (let age = keep; age >= 1; age--) {
      const from = age === 1 ? path : `${path}.${age - 1}`;
      try {
        renameSync(from, `${path}.${age}`);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    if (keep === 0) rmSync(path, { force: true });
    this.open();
  }
}
