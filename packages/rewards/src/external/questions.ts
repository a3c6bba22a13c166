import { onAbort } from '@rlp/core';
import type { RequestError } from '@rlp/http/client';
import type { ReadEpisode } from '../shared/episode.ts';

/** An episode that someone waits for the reward of. */
export interface Question {
  readonly episode: ReadEpisode;
  readonly signal: AbortSignal;
  readonly settle: (answer: number | null | RequestError) => void;
}

/** Questions that wait for their turn, first come, first served. */
export class QuestionQueue {
  readonly #questions: Question[] = [];
  /** Place of the first that waits. */
  #next = 0;

  get size(): number {
    return this.#questions.length - this.#next;
  }

  add(question: Question): void {
    this.#questions.push(question);
  }

  /** The next questions, `limit` at most, without those that nobody waits for any more. */
  take(limit: number): readonly Question[] {
    const taken: Question[] = [];
    while (this.size > 0 && taken.length < limit) {
      const question = this.#questions[this.#next++]!;
      if (!question.signal.aborted) taken.push(question);
    }
    // Now and then, since taking one off the front moves all others.
    if (this.#next > 1024 || this.size === 0) {
      this.#questions.splice(0, this.#next);
      this.#next = 0;
    }
    return taken;
  }
}

/** A signal that fires once all who asked have given up. `release` ends the waiting for that. */
export function givenUpByAll(questions: readonly Question[]): {
  readonly signal: AbortSignal;
  readonly release: () => void;
} {
  const [only] = questions;
  if (questions.length === 1) return { signal: only!.signal, release: () => undefined };
  const controller = new AbortController();
  let wanted = questions.length;
  const leave = () => {
    wanted -= 1;
    if (wanted === 0) controller.abort();
  };
  const releases = questions.map(({ signal }) => onAbort(signal, leave));
  return {
    signal: controller.signal,
    release: () => {
      for (const release of releases) release();
    },
  };
}
