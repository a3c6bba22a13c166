import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Told, once, what cannot be written and why. */
export type ProblemListener = (message: string) => void;

/** A file that is only appended to. What fails is reported once and counted, and never thrown. */
export class AppendFile {
  readonly #path: string;
  readonly #owner: string;
  readonly #onProblem: ProblemListener;
  #descriptor: number | undefined;
  #problems = 0;

  /** @throws the system's error where the file cannot be opened. */
  constructor(
    path: string,
    { owner, onProblem }: { readonly owner: string; readonly onProblem: ProblemListener },
  ) {
    this.#path = path;
    this.#owner = owner;
    this.#onProblem = onProblem;
    mkdirSync(dirname(path), { recursive: true });
    this.#descriptor = openSync(path, 'a+');
  }

  /** For reading back what an earlier process wrote. */
  get descriptor(): number | undefined {
    return this.#descriptor;
  }

  /** All of it is with the operating system when this returns. */
  append(bytes: Uint8Array): void {
    if (this.#descriptor === undefined) {
      this.#report('it is closed');
      return;
    }
    try {
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(this.#descriptor, bytes, written, bytes.length - written);
      }
    } catch (error) {
      this.#report((error as Error).message);
    }
  }

  /** All of it is on disk when this returns. */
  close(): void {
    if (this.#descriptor === undefined) return;
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    try {
      fsyncSync(descriptor);
    } catch (error) {
      this.#report((error as Error).message);
    }
    closeSync(descriptor);
  }

  #report(reason: string): void {
    this.#problems += 1;
    if (this.#problems > 1) return;
    this.#onProblem(`${this.#owner}: metrics are not written to ${this.#path}: ${reason}; this is said once`);
  }
}
