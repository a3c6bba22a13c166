import { onAbort } from '@rlp/core';
import type { RequestError } from '@rlp/http/client';
import type { ReadEpisode } from '../shared/episode.ts';

/** An episode that someone waits for the reward of. */
export interface Question {
  readonly episode: ReadEpisode;
  readonly signal: AbortSignal;
  readonly settle: (answer: number | null | RequestError) => void;
}

/** Takes the next questions off the list, `limit` at most, without those that nobody waits for any more. */
export function takeQuestions(waiting: Question[], limit: number): readonly Question[] {
  const taken: Question[] = [];
  while (waiting.length > 0 && taken.length < limit) {
    const question = waiting.shift()!;
    if (!question.signal.aborted) taken.push(question);
  }
  return taken;
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
