import {
  type ForwardBackwardResult,
  type Loss,
  type OptimStepResult,
  RandomStream,
  type TrainFuture,
  type TrainingBackend,
  type TrainingSequence,
} from '@rlp/core';

/** How an iteration's sequences are cut into updates. */
export interface UpdatePlan {
  readonly backend: TrainingBackend;
  readonly loss: Loss;
  /** How many sequences there are. */
  readonly count: number;
  readonly epochs: number;
  readonly minibatches: number;
  /** Names the streams that shuffle, one per epoch. */
  readonly stream: readonly (string | number)[];
  /** What is trained of a minibatch. Nothing makes no update, `'stop'` none any more. `update` counts from 0. */
  readonly sequencesOf: (rows: readonly number[], update: number) => MinibatchPlan | Promise<MinibatchPlan>;
}

/** What becomes of a minibatch. */
type MinibatchPlan = readonly TrainingSequence[] | 'stop';

/** Results of updates. */
export interface Updates {
  readonly passes: readonly ForwardBackwardResult[];
  readonly updates: readonly OptimStepResult[];
  /** Minibatches that were left out because the plan said to stop. */
  readonly skipped: number;
}

/**
 * Makes the updates of one iteration: `epochs` passes over the sequences, cut into `minibatches` updates each.
 *
 * An update is applied only once its gradient is known to be finite. The next pass is submitted behind it without waiting.
 *
 * @throws TrainingError when a loss or gradient is not finite; updates before it stay.
 */
export async function makeUpdates(plan: UpdatePlan): Promise<Updates> {
  const { backend, loss, epochs, minibatches, stream, sequencesOf } = plan;
  const passes: ForwardBackwardResult[] = [];
  const updates: TrainFuture<OptimStepResult>[] = [];
  const indices = [...Array(plan.count).keys()];
  const planned = Array.from({ length: epochs }, (_, epoch) =>
    split(RandomStream.named(...stream, epoch).shuffle(indices), minibatches),
  ).flat();
  let skipped = 0;
  for (const [index, rows] of planned.entries()) {
    const sequences = await sequencesOf(rows, updates.length);
    if (sequences === 'stop') {
      skipped = planned.length - index;
      break;
    }
    if (sequences.length === 0) continue;
    passes.push(await backend.forwardBackward({ sequences }, loss));
    updates.push(backend.optimStep());
  }
  return { passes, updates: await Promise.all(updates), skipped };
}

/** `parts` slices of nearly equal length, in order. Fewer when there are not enough items. */
function split<Item>(items: readonly Item[], parts: number): Item[][] {
  const count = Math.min(parts, items.length);
  return Array.from({ length: count }, (_, part) =>
    items.slice(Math.floor((part * items.length) / count), Math.floor(((part + 1) * items.length) / count)),
  );
}
