import { Failures } from '@rlp/core';
import { AppendFile, type AppendFileOptions } from '@rlp/data/files';

/** Owner of the file, and the listener for problems. */
export interface LogFileOptions extends AppendFileOptions {
  readonly owner: string;
  readonly onProblem: (message: string) => void;
}

/** An {@link AppendFile} that reports a failed write once, counts the others, and never throws. */
export class LogFile {
  readonly #what: string;
  readonly #failures: Failures;
  #file: AppendFile | undefined;

  /** @throws the system's error if the file cannot be opened. */
  constructor({ owner, onProblem, ...options }: LogFileOptions) {
    this.#what = `${owner}: metrics are not written to ${options.path}`;
    this.#failures = new Failures(onProblem);
    this.#file = new AppendFile(options);
    this.#file.open();
  }

  /** The data is with the operating system when this returns. */
  append(data: string | Uint8Array): void {
    if (this.#file === undefined) this.#failures.report(this.#what, 'it is closed');
    else this.#failures.attempt(this.#what, () => this.#file?.append(data));
  }

  /** The file is on disk when this returns. */
  close(): void {
    if (this.#file === undefined) return;
    this.#failures.attempt(this.#what, () => this.#file?.close());
    this.#file = undefined;
    this.#failures.conclude();
  }
}
