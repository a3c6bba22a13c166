import { AppendFile, type AppendFileOptions } from '@rlp/data/files';
import { type ProblemListener, Problems } from './problems.ts';

/** Owner of the file, and the listener for problems. */
export interface LogFileOptions extends AppendFileOptions {
  readonly owner: string;
  readonly onProblem: ProblemListener;
}

/** An {@link AppendFile} that reports a failed write once, counts the others, and never throws. */
export class LogFile {
  readonly #problems: Problems;
  #file: AppendFile | undefined;

  /** @throws the system's error if the file cannot be opened. */
  constructor({ owner, onProblem, ...options }: LogFileOptions) {
    this.#problems = new Problems(`${owner}: metrics are not written to ${options.path}`, onProblem);
    this.#file = new AppendFile(options);
    this.#file.open();
  }

  /** The data is with the operating system when this returns. */
  append(data: string | Uint8Array): void {
    try {
      if (this.#file === undefined) this.#problems.report('it is closed');
      else this.#file.append(data);
    } catch (error) {
      this.#problems.report(error);
    }
  }

  /** The file is on disk when this returns. */
  close(): void {
    if (this.#file === undefined) return;
    try {
      this.#file.close();
    } catch (error) {
      this.#problems.report(error);
    }
    this.#file = undefined;
    this.#problems.conclude();
  }
}
