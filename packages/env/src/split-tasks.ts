import { ArgumentError, parseOptions, plural, RandomStream, type Task } from '@rlp/core';
import * as z from 'zod';

const schema = z.strictObject({
  /** Share of the tasks that is held out, between 0 and 1. */
  fraction: z.number().gt(0).lt(1),
  /** Names the random stream of the split. Default `'split'`. */
  seed: z.string().default('split'),
});

/** Options of {@link splitTasks}. */
export interface SplitTasksOptions extends z.input<typeof schema> {}

/**
 * Splits tasks into a training part and a held-out part.
 *
 * Each task draws a number from a stream named by its id. The `round(fraction · tasks)` smallest are held out. So the split
 * does not depend on the order of the tasks, and hardly changes when some are added. Both parts keep the given order.
 *
 * @throws ArgumentError if either part would be empty; OptionsError for bad options.
 */
export function splitTasks<Metadata>(
  tasks: readonly Task<Metadata>[],
  options: SplitTasksOptions,
): { readonly train: readonly Task<Metadata>[]; readonly heldOut: readonly Task<Metadata>[] } {
  const { fraction, seed } = parseOptions('splitTasks', schema, options, 'SplitTasksOptions');
  const heldOutCount = Math.round(fraction * tasks.length);
  if (heldOutCount < 1 || heldOutCount >= tasks.length) {
    throw new ArgumentError(
      `splitTasks: fraction ${fraction} of ${plural(tasks.length, 'task')} leaves one part empty: give more tasks or another fraction`,
    );
  }
  const draws = tasks.map((task) => ({ task, draw: RandomStream.named(seed, 'split', task.id).uniform() }));
  draws.sort((a, b) => a.draw - b.draw);
  const isHeldOut = new Set(draws.slice(0, heldOutCount).map(({ task }) => task));
  return {
    train: tasks.filter((task) => !isHeldOut.has(task)),
    heldOut: tasks.filter((task) => isHeldOut.has(task)),
  };
}
