import type { JobReport, SandboxFailureCause } from './protocol.ts';

/** Enforces the time and output limits of one job. */
export class Watch {
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  /** The exceeded limit, if any. */
  breach: Extract<SandboxFailureCause, 'timed-out' | 'output-too-long'> | undefined;
  readonly #deadline: number;
  readonly #clock: () => number;
  #charactersLeft: number;

  constructor(
    limits: { readonly timeoutMs: number; readonly maxOutputCharacters: number },
    clock: () => number,
  ) {
    this.#clock = clock;
    this.#deadline = clock() + limits.timeoutMs;
    this.#charactersLeft = limits.maxOutputCharacters;
  }

  /** Whether the job must stop now. */
  isOver(): boolean {
    if (this.breach === undefined && this.#clock() > this.#deadline) this.breach = 'timed-out';
    return this.breach !== undefined;
  }

  /** Receives output of the job. */
  write(stream: string, text: string): void {
    if (this.breach !== undefined) return;
    const kept = text.slice(0, this.#charactersLeft);
    this[stream === 'stderr' ? 'stderr' : 'stdout'].push(kept);
    this.#charactersLeft -= kept.length;
    if (kept.length < text.length) this.breach = 'output-too-long';
  }

  /** Whether a result of this length fits in the remaining output. */
  admits(characters: number): boolean {
    return characters <= this.#charactersLeft;
  }

  report(result: JobReport['result']): JobReport {
    return { result, stdout: this.stdout.join(''), stderr: this.stderr.join('') };
  }
}
