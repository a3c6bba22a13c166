import { ArgumentError, RandomStream } from '@rlp/core';

/** How examples are cut into the batches of a run. */
export interface BatchPlan {
  /** Names the streams that shuffle, one per epoch. */
  readonly seed: string;
  readonly epochs?: number | undefined;
  readonly updates?: number | undefined;
  /** A batch is full at this many examples. */
  readonly perBatch: number;
  /** A batch is full at this many tokens. */
  readonly tokensPerBatch?: number | undefined;
}

/** Rows of the examples that make one update. */
export interface Batch {
  readonly rows: readonly number[];
  /** Passes over the examples that are over after this batch, such as 1.25. */
  readonly epoch: number;
}

/**
 * The batches of a run, shuffled in each epoch by a stream named by seed and epoch. Without `epochs` and `updates` one pass.
 *
 * @param lengths - Tokens of each example.
 * @throws ArgumentError for an empty list of examples.
 */
export function* batches(lengths: readonly number[], plan: BatchPlan): Generator<Batch> {
  const { seed, updates = Number.POSITIVE_INFINITY } = plan;
  const limit = plan.epochs ?? (plan.updates === undefined ? 1 : Number.POSITIVE_INFINITY);
  if (updates === 0) return;
  if (lengths.length === 0) {
    throw new ArgumentError('expected at least one training example, got none');
  }
  let made = 0;
  for (let epoch = 0; epoch < limit; epoch++) {
    const order = RandomStream.named(seed, 'epoch', epoch).shuffle([...lengths.keys()]);
    for (let start = 0; start < order.length; ) {
      if (made >= updates || epoch + start / order.length >= limit) return;
      const end = batchEnd(lengths, order, start, plan);
      yield { rows: order.slice(start, end), epoch: epoch + end / order.length };
      start = end;
      made += 1;
    }
  }
}

/** Where the batch that begins at `start` ends. It always holds one example. */
function batchEnd(
  lengths: readonly number[],
  order: readonly number[],
  start: number,
  { perBatch, tokensPerBatch = Number.POSITIVE_INFINITY }: BatchPlan,
): number {
  let tokens = lengths[order[start]!]!;
  let end = start + 1;
  while (end < order.length && end - start < perBatch) {
    tokens += lengths[order[end]!]!;
    if (tokens > tokensPerBatch) break;
    end += 1;
  }
  return end;
}
