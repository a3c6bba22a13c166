import {
  ArgumentError,
  callback,
  needed,
  onAbort,
  parseOptions,
  type TaskSource,
  type Trajectory,
  type TrajectoryGroup,
  trajectorySchema,
  withForeignNames,
} from '@rlp/core';
import * as z from 'zod';
import {
  type RolloutStreamState,
  type StreamedGroup,
  type StreamedRollouts,
  StreamPool,
} from './stream-pool.ts';

export type { RolloutStreamState, StreamedRollouts };

const schema = z.strictObject({
  /** Groups of a batch: those that you learn from between two publications of weights. Default 8. */
  batch: z.int().min(1).default(8),
  /** Groups under way at once. Defaults to `batch` times `overSampling`. */
  inFlight: z.int().min(1).optional(),
  /**
   * Groups that compete for each place in a batch. Without `keep` the first that finish get it. The others are carried on into the next
   * batches. Default 1.
   */
  overSampling: z.number().min(1).default(1),
  /**
   * Batches that may pass between the start of a group and its own batch. Groups begin only as far ahead as that allows, and one that
   * reaches the limit is waited for. Groups that `overSampling` carried on may be `overSampling` − 1 batches older, rounded up. Default no
   * limit.
   */
  maxStaleness: z.int().nonnegative().or(z.literal(Infinity)).default(Infinity),
});

/** Schema of {@link RolloutStreamState}. */
export const rolloutStreamStateSchema = z.strictObject({
  begun: z.int().nonnegative(),
  yielded: z.int().nonnegative(),
  taskCursor: z.int().nonnegative(),
  unfinished: z.array(trajectorySchema).readonly(),
  startBatches: z.record(z.string(), z.int().nonnegative()).optional(),
});

const withSource = withForeignNames(schema, { overSampling: 'over_sampling_factor' }).extend({
  tasks: needed.tasks,
  keep: callback('a function of a group').optional(),
  resume: rolloutStreamStateSchema.optional(),
});

/** Options of {@link rolloutStream}. */
export interface RolloutStreamOptions<Metadata = unknown, Outcome = unknown> extends z.input<typeof schema> {
  /** Where tasks come from. */
  readonly tasks: TaskSource<Metadata>;
  /**
   * How much a group is worth keeping, such as the variance of its rewards. Each batch gets the best of `batch` times `overSampling`
   * new groups. The others compete once more, for the next batch, and are then dropped. Default: the first that finish are kept.
   */
  readonly keep?: ((group: TrajectoryGroup<Metadata, Outcome>) => number | Promise<number>) | undefined;
  /** Ends the stream. `saveState` then has what was under way. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a sentence while the stream waits for a sampler that does not answer. Default none. */
  readonly onNote?: ((text: string) => void) | undefined;
  /** Called with each episode that ends, before its group does. Default none. */
  readonly onEnded?: ((trajectory: Trajectory<Metadata, Outcome>) => void) | undefined;
  /** Continues where another stream stood. Default: from the beginning. */
  readonly resume?: RolloutStreamState | undefined;
}

/** Groups as they finish. See {@link rolloutStream}. */
export interface RolloutStream<Metadata = unknown, Outcome = unknown>
  extends AsyncIterableIterator<TrajectoryGroup<Metadata, Outcome>> {
  /** Where the stream stands. Groups that you have not asked for yet are part of it. */
  saveState(): RolloutStreamState;
}

/**
 * Groups as they finish, without end: a straggler delays only itself. Learn from `batch` groups, publish, and ask for the next.
 *
 * Each group is a function of the seed, of its place among the groups begun, of its task and of the weights. Which groups make a batch
 * depends on timing, by design. Leaving the loop aborts what is under way.
 *
 * @throws OptionsError naming every problem at once, ArgumentError if the manager runs fewer groups than `inFlight`.
 */
export function rolloutStream<Metadata, Outcome>(
  rollouts: StreamedRollouts<Metadata, Outcome>,
  given: RolloutStreamOptions<Metadata, Outcome>,
): RolloutStream<Metadata, Outcome> {
  const { signal, onNote, onEnded, ...options } = given;
  const { tasks, keep, resume } = given;
  const resolved = parseOptions('rolloutStream', withSource, options, 'RolloutStreamOptions');
  const inFlight = resolved.inFlight ?? Math.ceil(resolved.batch * resolved.overSampling);
  if (rollouts.options.concurrency < inFlight) {
    throw new ArgumentError(
      `rolloutStream: expected a manager that runs at least inFlight (${inFlight}) groups at once, got a concurrency of ` +
        `${rollouts.options.concurrency}: raise the manager's concurrency`,
    );
  }
  if (resume !== undefined) tasks.seek(resume.taskCursor);
  const stop = new AbortController();
  const pool = new StreamPool(
    rollouts,
    { ...resolved, inFlight, tasks, resume },
    { signal: stop.signal, onNote, onEnded },
  );
  const groups = streamed(pool, keep, { signal, stop });
  return Object.assign(groups, {
    saveState: () => ({
      begun: pool.begun,
      yielded: pool.given,
      taskCursor: tasks.cursor,
      unfinished: pool.unfinished() as Trajectory[],
      startBatches: pool.startBatches(),
    }),
  });
}

async function* streamed<Metadata, Outcome>(
  pool: StreamPool<Metadata, Outcome>,
  keep: RolloutStreamOptions<Metadata, Outcome>['keep'],
  { signal, stop }: { readonly signal: AbortSignal | undefined; readonly stop: AbortController },
): AsyncGenerator<TrajectoryGroup<Metadata, Outcome>, void, undefined> {
  const release = signal && onAbort(signal, () => stop.abort(signal.reason));
  try {
    for (let chosen: StreamedGroup<Metadata, Outcome>[] = []; !stop.signal.aborted; ) {
      if (keep !== undefined && chosen.length === 0) {
        await pool.until(() => pool.hasCandidates() || pool.isDry);
        chosen = await pool.best(keep);
      } else if (keep === undefined) {
        await pool.until(() => pool.next() !== undefined || pool.isDry);
        chosen = [pool.next()].filter((group) => group !== undefined);
      }
      const group = chosen.shift();
      if (group === undefined || stop.signal.aborted) return;
      yield pool.give(group);
      pool.yielded += 1;
    }
  } finally {
    release?.();
    stop.abort(new Error('the consumer of this stream left it'));
  }
}
