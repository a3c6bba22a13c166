import { closeSync, fstatSync, fsyncSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ProblemListener, Problems } from './problems.ts';

/** Whose file it is, and who is told of problems. */
export interface AppendFileOptions {
  readonly owner: string;
  readonly onProblem: ProblemListener;
  /** Writes bytes from an offset on, and returns how many. Default `writeSync`. */
  readonly write?: ((descriptor: number, bytes: Uint8Array, offset: number) => number) | undefined;
}

/** A file that is only appended to. What fails is reported once and counted, and never thrown. */
export class AppendFile {
  readonly #problems: Problems;
  readonly #write: NonNullable<AppendFileOptions['write']>;
  #descriptor: number | undefined;
  /** Where a write that failed half-way began: what is left of it goes before the next one. */
  #torn: number | undefined;

  /** @throws the system's error where the file cannot be opened. */
  constructor(path: string, { owner, onProblem, write = writeSync }: AppendFileOptions) {
    this.#problems = new Problems(`${owner}: metrics are not written to ${path}`, onProblem);
    this.#write = write;
    mkdirSync(dirname(path), { recursive: true });
    this.#descriptor = openSync(path, 'a+');
  }

  /** For reading back what an earlier process wrote. */
  get descriptor(): number | undefined {
    return this.#descriptor;
  }

  /** All of it is with the operating system when this returns. */
  append(bytes: Uint8Array): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) {
      this.#problems.report('it is closed');
      return;
    }
    let written = 0;
    try {
      if (this.#torn !== undefined) ftruncateSync(descriptor, this.#torn);
      this.#torn = undefined;
      while (written < bytes.length) written += this.#write(descriptor, bytes, written);
    } catch (error) {
      if (written > 0) this.#torn = fstatSync(descriptor).size - written;
      this.#problems.report(error);
    }
  }

  /** All of it is on disk when this returns. */
  close(): void {
    if (this.#descriptor === undefined) return;
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    for (const step of [fsyncSync, closeSync]) {
      try {
        step(descriptor);
      } catch (error) {
        this.#problems.report(error);
      }
    }
    this.#problems.conclude();
  }
}
