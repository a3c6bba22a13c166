import {
  ArgumentError,
  callback,
  needed,
  onAbort,
  parseOptions,
  requireArguments,
  requireFields,
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
  /** Groups per batch. You learn from one batch between two publications of weights. Default 8. */
  batch: z.int().min(1).default(8),
  /** Groups that run at the same time. Defaults to `batch` times `overSampling`. */
  inFlight: z.int().min(1).optional(),
  /**
   * Groups that compete for each place in a batch. Without `keep` the first to finish get it. The others are carried over into the next
   * batches. Default 1.
   */
  overSampling: z.number().min(1).default(1),
  /**
   * Maximum batches between the start of a group and its own batch. Groups begin only as far ahead as that allows, and the stream waits for
   * a group that reaches the limit. Groups that `overSampling` carried over may be `overSampling` − 1 batches older, rounded up. Default
   * `Infinity`.
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
   * Value of a group, such as the variance of its rewards. Each batch gets the best of `batch` times `overSampling` new groups. The others
   * compete once more in the next batch and are then dropped. Default: the first to finish are kept.
   */
  readonly keep?: ((group: TrajectoryGroup<Metadata, Outcome>) => number | Promise<number>) | undefined;
  /** Ends the stream. `saveState` then has the unfinished groups. */
  readonly signal?: AbortSignal | undefined;
  /** Called with a sentence while the stream waits for a sampler that does not answer. Default none. */
  readonly onNote?: ((text: string) => void) | undefined;
  /** Called with each episode that ends, before its group does. Default none. */
  readonly onEnded?: ((trajectory: Trajectory<Metadata, Outcome>) => void) | undefined;
  /** State of another stream to continue from. Default: from the beginning. */
  readonly resume?: RolloutStreamState | undefined;
}

/** Groups as they finish. See {@link rolloutStream}. */
export interface RolloutStream<Metadata = unknown, Outcome = unknown>
  extends AsyncIterableIterator<TrajectoryGroup<Metadata, Outcome>> {
  /** Where the stream stands. Groups that you have not asked for yet are part of it. */
  saveState(): RolloutStreamState;
}

/**
 * Groups in the order in which they finish, without end. A straggler delays only itself. Learn from `batch` groups, publish, and ask for
 * the next.
 *
 * A group is a function of the seed, of its place among the begun groups, of its task and of the weights. Which groups form a batch depends
 * on timing, by design. Leaving the loop aborts running groups.
 *
 * @throws OptionsError naming every problem at once, ArgumentError if the manager runs fewer groups than `inFlight`.
 */
export function rolloutStream<Metadata, Outcome>(
  rollouts: StreamedRollouts<Metadata, Outcome>,
  options: RolloutStreamOptions<Metadata, Outcome>,
): RolloutStream<Metadata, Outcome> {
  requireFields(
    'rolloutStream',
    { options: 'object', collectGroups: 'function', resume: 'function', unfinished: 'function' },
    rollouts,
  );
  requireArguments('rolloutStream', { options: 'object' }, options);
  const { signal, onNote, onEnded, ...others } = options;
  const { tasks, keep, resume } = options;
  const resolved = parseOptions('rolloutStream', withSource, others, 'RolloutStreamOptions');
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
    for (let chosen: (StreamedGroup<Metadata, Outcome> | undefined)[] = []; !stop.signal.aborted; ) {
      if (keep !== undefined && chosen.length === 0) {
        await pool.until(() => pool.hasCandidates() || pool.isDry);
        chosen = await pool.best(keep);
      } else if (keep === undefined) {
        await pool.until(() => pool.next() !== undefined || pool.isDry);
        chosen = [pool.next()];
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
