import { inNextTurn } from '@rlp/core';

/**
 * Sends the requests of one turn of the event loop together.
 *
 * Messages between threads arrive one by one. Without the gate, the engine would start with the first of many concurrent requests. The
 * others would join at different moments in each run, so batches and their rounding would differ.
 */
export class TurnGate {
  readonly #opened: () => void;
  readonly #waiting: (() => void)[] = [];

  /** @param opened - Called after each batch was sent. */
  constructor(opened: () => void) {
    this.#opened = opened;
  }

  /** Calls `send` once this turn is over, and settles as it does. */
  pass<Result>(send: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) inNextTurn(() => this.open());
      this.#waiting.push(() => void send().then(resolve, reject));
    });
  }

  /** Sends what is waiting now, in the order it came. */
  open(): void {
    if (this.#waiting.length === 0) return;
    for (const send of this.#waiting.splice(0)) send();
    this.#opened();
  }
}
