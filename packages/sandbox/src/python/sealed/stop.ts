/** Why the code of an interpreter does not go on. */
export type StopCause = 'timed-out' | 'output-too-long' | 'forbidden' | 'exited' | 'crashed';

/** Thrown by an import to leave the code of an interpreter for good. Only we throw it. */
export class Stop extends Error {
  readonly stop: StopCause;
  readonly exitCode: number;

  constructor(stop: StopCause, message: string, exitCode = 1) {
    super(message);
    this.stop = stop;
    this.exitCode = exitCode;
  }
}
