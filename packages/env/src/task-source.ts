import {
  ArgumentError,
  isPromiseLike,
  isRecord,
  parseOptions,
  RandomStream,
  type Task,
  type TaskSource,
} from '@rlp/core';
import * as z from 'zod';

const schema = z.strictObject({
  /** Names the random streams of the shuffles. Default `'tasks'`. */
  seed: z.string().default('tasks'),
  /** `'each-epoch'` shuffles before every pass over the tasks. `'none'` keeps their order. Default `'each-epoch'`. */
  shuffle: z.enum(['each-epoch', 'none']).default('each-epoch'),
});

/** Options of {@link taskSource}. */
export interface TaskSourceOptions extends z.input<typeof schema> {}

/**
 * An endless source over a list of tasks. Each epoch returns every task once.
 *
 * The order of epoch `e` is a function of the seed and `e` alone, so `seek` costs one shuffle, however far it goes.
 *
 * @throws ArgumentError for an empty list or ids that occur twice; OptionsError for bad options.
 */
export function taskSource<Metadata>(
  tasks: readonly Task<Metadata>[],
  options: TaskSourceOptions = {},
): TaskSource<Metadata> {
  const { seed, shuffle } = parseOptions('taskSource', schema, options, 'TaskSourceOptions');
  checkTasks(tasks);
  const shuffled = (epoch: number): readonly Task<Metadata>[] =>
    shuffle === 'none' ? tasks : RandomStream.named(seed, 'epoch', epoch).shuffle(tasks);

  let cursor = 0;
  let current = { epoch: 0, tasks: shuffled(0) };
  const taskAt = (position: number): Task<Metadata> => {
    const epoch = Math.floor(position / tasks.length);
    if (epoch !== current.epoch) current = { epoch, tasks: shuffled(epoch) };
    return current.tasks[position % tasks.length]!;
  };
  return {
    get cursor() {
      return cursor;
    },
    take(count) {
      checkCount('take: count', count);
      return Array.from({ length: count }, () => taskAt(cursor++));
    },
    seek(position) {
      checkCount('seek: cursor', position);
      cursor = position;
    },
  };
}

/** What was given instead of a list, with the step that is missing. */
function otherThanList(given: unknown): string {
  if (isPromiseLike(given)) return 'a promise; await it';
  if (typeof given === 'string')
    return `${JSON.stringify(given)}; tasksFrom(await loadDataset(path)) of @rlp/data reads tasks from a file`;
  return given === null ? 'null' : typeof given;
}

function checkTasks(tasks: readonly Task[]): void {
  if (!Array.isArray(tasks)) {
    throw new ArgumentError(`taskSource: expected a list of tasks, got ${otherThanList(tasks)}`);
  }
  if (tasks.length === 0) throw new ArgumentError('taskSource: expected at least one task, got none');
  const ids = new Set<string>();
  for (const [index, task] of tasks.entries()) {
    const problem = problemOf(task);
    if (problem !== undefined) throw new ArgumentError(`taskSource: task ${index}: ${problem}`);
    const { id } = task;
    if (ids.has(id)) {
      throw new ArgumentError(
        `taskSource: task ids must be unique, "${id}" occurs twice: rename one of them`,
      );
    }
    ids.add(id);
  }
}

/** What a task lacks that nothing can do without. Given as an object, it was not read from a checked file. */
function problemOf(task: unknown): string | undefined {
  if (!isRecord(task)) return 'expected an object { id, prompt, metadata }';
  const { id, prompt } = task;
  if (typeof id !== 'string') return `expected text as id, got ${typeof id}`;
  if (typeof prompt === 'string' || Array.isArray(prompt)) return undefined;
  const others = Object.keys(task).filter((name) => name !== 'id' && name !== 'prompt');
  return `expected text or a list of messages as prompt, got ${typeof prompt}; the task has ${others.join(', ') || 'nothing else'}`;
}

function checkCount(what: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new ArgumentError(`taskSource.${what} must be an integer of at least 0, got ${value}`);
}
