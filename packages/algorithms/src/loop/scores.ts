import type { CriticBackend, TokenScores, TokenSequence, TrainingBackend } from '@rlp/core';

/** What the trainer can say about tokens before the first update. */
export type Score = 'proximal' | 'reference' | 'values';

/** {@link Score}s of the trained tokens of an iteration, and values of all. Those asked for are there. Shape `[N][T]`. */
export interface Scores {
  readonly proximal?: readonly TokenScores[] | undefined;
  readonly reference?: readonly TokenScores[] | undefined;
  /** One more than tokens: the last is of the state after them. */
  readonly values?: readonly ArrayLike<number>[] | undefined;
}

/** What {@link scoreSequences} works with. */
export interface ScoringContext {
  readonly backend: TrainingBackend;
  readonly critic?: CriticBackend | undefined;
  readonly temperature: number;
  readonly signal?: AbortSignal | undefined;
}

/** Scores sequences, all requests submitted at once so that they run back to back. Values need a critic. */
export async function scoreSequences(
  sequences: readonly TokenSequence[],
  wanted: ReadonlySet<Score>,
  { backend, critic, temperature, signal }: ScoringContext,
): Promise<Scores> {
  if (sequences.length === 0) return {};
  const tokens = sequences.map((sequence) => sequence.tokens);
  const interruptible = signal === undefined ? {} : { signal };
  const scoring = { temperature, masks: sequences.map(({ mask }) => mask), ...interruptible };
  const [proximal, reference, values] = await Promise.all([
    wanted.has('proximal') ? backend.logprobs(tokens, scoring) : undefined,
    wanted.has('reference') ? backend.logprobs(tokens, { ...scoring, policy: 'reference' }) : undefined,
    wanted.has('values') ? critic?.values(tokens, interruptible) : undefined,
  ]);
  return { proximal, reference, values };
}
