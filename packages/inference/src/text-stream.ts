/** Starts the producer of the text. Resolves when the text ends. */
export type TextProducer = (onText: (text: string) => void, signal: AbortSignal) => Promise<unknown>;

/** Text that a producer pushes and a consumer pulls. The producer starts with the first pull. */
export class TextStream implements AsyncIterable<string> {
  readonly #produce: TextProducer;

  constructor(produce: TextProducer) {
    this.#produce = produce;
  }

  /** Leaving the loop early aborts the producer. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    const stop = new AbortController();
    const pending: string[] = [];
    let state: 'open' | 'ended' = 'open';
    let wake: () => void = () => {};
    const notify = () => wake();
    const finished = this.#produce((text) => {
      pending.push(text);
      notify();
    }, stop.signal).finally(() => {
      state = 'ended';
      notify();
    });
    // Awaited below; without this a failure that nobody pulls any more would be unhandled.
    finished.catch(() => {});
    try {
      while (true) {
        if (pending.length > 0) yield pending.splice(0).join('');
        else if (state === 'open') {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        } else break;
      }
      await finished;
    } finally {
      stop.abort(new DOMException('the consumer stopped reading', 'AbortError'));
    }
  }
}
