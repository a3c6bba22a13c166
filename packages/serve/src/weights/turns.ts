import { onAbort } from '@rlp/core';

interface Waiting {
  /** Name of the weights that it needs. */
  readonly name: string;
  readonly start: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Lets work run that needs weights of one name, and switches between names.
 *
 * Work for the weights in force runs together. Work for others waits its turn: the work under way ends, the weights are
 * switched, and all that waits for them starts. A change runs alone, also while work is paused.
 */
export class WeightTurns {
  #inForce: string;
  readonly #switchTo: (name: string) => Promise<void>;
  #running = 0;
  #isChanging = false;
  #isPaused = false;
  #waiting: Waiting[] = [];
  readonly #changes: (() => void)[] = [];
  readonly #idle: (() => void)[] = [];

  constructor(inForce: string, switchTo: (name: string) => Promise<void>) {
    this.#inForce = inForce;
    this.#switchTo = switchTo;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Lets new work wait. Resolves when none runs. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  resume(): void {
    this.#isPaused = false;
    this.#next();
  }

  /** Runs work with the weights of a name. Rejects with the signal's reason if it aborts while the work waits. */
  async run<Result>(name: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#turn(name, signal);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) for (const wake of this.#idle.splice(0)) wake();
      this.#next();
    }
  }

  /** Runs a change of the weights alone. It returns the name in force after it. If it fails, nothing has changed. */
  async change(work: () => Promise<string>): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#changes.push(resolve);
      this.#next();
    });
    try {
      this.#inForce = await work();
    } finally {
      this.#isChanging = false;
      this.#next();
    }
  }

  #turn(name: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const waiting: Waiting = {
        name,
        start: () => {
          release();
          this.#running += 1;
          resolve();
        },
        fail: (error) => {
          release();
          reject(error);
        },
      };
      this.#waiting.push(waiting);
      const release = onAbort(signal, () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason);
      });
      this.#next();
    });
  }

  #next(): void {
    if (this.#isChanging) return;
    const change = this.#running === 0 ? this.#changes.shift() : undefined;
    if (change !== undefined) {
      this.#isChanging = true;
      change();
      return;
    }
    if (this.#isPaused || this.#changes.length > 0) return;
    while (this.#waiting[0]?.name === this.#inForce) this.#waiting.shift()!.start();
    if (this.#waiting.length > 0 && this.#running === 0) void this.#switch(this.#waiting[0]!.name);
  }

  async #switch(name: string): Promise<void> {
    this.#isChanging = true;
    try {
      await this.#switchTo(name);
      this.#inForce = name;
      this.#take(name).forEach(({ start }) => {
        start();
      });
    } catch (error) {
      this.#take(name).forEach(({ fail }) => {
        fail(error);
      });
    } finally {
      this.#isChanging = false;
      this.#next();
    }
  }

  #take(name: string): readonly Waiting[] {
    const taken = this.#waiting.filter((waiting) => waiting.name === name);
    this.#waiting = this.#waiting.filter((waiting) => waiting.name !== name);
    return taken;
  }
}
