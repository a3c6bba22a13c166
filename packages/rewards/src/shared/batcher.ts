import { onAbort, orAborted } from '@rlp/core';
import pLimit from 'p-limit';

/** How a {@link Batcher} asks. */
interface BatcherOptions<Question, Answer> {
  /** Most questions of a batch. */
  readonly batchSize: number;
  /** Batches in progress at once. */
  readonly concurrency: number;
  /** One answer or error for each question. The signal fires once all who asked have given up. */
  readonly ask: (questions: readonly Question[], signal: AbortSignal) => Promise<readonly (Answer | Error)[]>;
  /** Whether one question may be at fault for the error of a batch. Then each is asked alone. */
  readonly isOfOne: (error: unknown) => boolean;
}

/** A question that someone waits for the answer of. */
interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Asks in batches about what waits at the same time, first come, first served. One question cannot spoil the others of its batch. */
export class Batcher<Question, Answer> {
  readonly #options: BatcherOptions<Question, Answer>;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #waiting: Waiting<Question, Answer>[] = [];
  /** Place of the first that waits. */
  #next = 0;
  /** Turns asked for and not yet had. */
  #turns = 0;

  constructor(options: BatcherOptions<Question, Answer>) {
    this.#options = options;
    this.#limit = pLimit(options.concurrency);
  }

  /** The answer to a question. Rejects with its error, or with the signal's reason. */
  ask(question: Question, signal: AbortSignal | undefined): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#waiting.push({ question, signal, resolve, reject });
      // One turn for every full batch. A turn takes the questions that wait by then.
      if (this.#turns * this.#options.batchSize >= this.#waiting.length - this.#next) return;
      this.#turns += 1;
      void this.#limit(() => this.#takeTurn());
    });
    return orAborted(answer, signal);
  }

  async #takeTurn(): Promise<void> {
    this.#turns -= 1;
    const batch: Waiting<Question, Answer>[] = [];
    while (this.#next < this.#waiting.length && batch.length < this.#options.batchSize) {
      const next = this.#waiting[this.#next++]!;
      if (!next.signal?.aborted) batch.push(next);
    }
    // Now and then, because taking one off the front moves all others.
    if (this.#next > 1024 || this.#next === this.#waiting.length) {
      this.#waiting.splice(0, this.#next);
      this.#next = 0;
    }
    if (batch.length > 0) await this.#settle(batch);
  }

  async #settle(batch: readonly Waiting<Question, Answer>[]): Promise<void> {
    const controller = new AbortController();
    let wanted = batch.length;
    const leave = () => {
      wanted -= 1;
      if (wanted === 0) controller.abort();
    };
    const releases = batch.map(({ signal }) => signal && onAbort(signal, leave));
    try {
      const answers = await this.#options.ask(
        batch.map(({ question }) => question),
        controller.signal,
      );
      for (const [k, { resolve, reject }] of batch.entries()) {
        const answer = answers[k]!;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      }
    } catch (error) {
      if (batch.length === 1 || !this.#options.isOfOne(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) if (!one.signal?.aborted) void this.#limit(() => this.#settle([one]));
    } finally {
      for (const release of releases) release?.();
    }
  }
}
