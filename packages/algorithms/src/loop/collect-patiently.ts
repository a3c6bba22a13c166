import { pause, transienceOf } from '@rlp/core';
import { type CollectContext, type Collection, collectIteration } from './collect.ts';
import { causeOfLoss } from './lost-iteration.ts';
import type { RlDependencies, RlState } from './protocol.ts';
import { RunStoppedError } from './run-stopped.ts';

/** Longest wait before a lost iteration is tried again, in milliseconds. */
const longestBackOffMs = 60_000;

/** What collecting needs to know of the run. */
export interface PatienceContext extends CollectContext {
  /** Whether this run has already had rewards: what brings none now did work before. */
  readonly history: () => 'scored' | 'nothing scored yet';
  /** Where the run stands. An error carries it. */
  readonly state: RlState;
}

/**
 * Collects an iteration. One that is lost gives its tasks back and is collected again after a pause: the same tasks with the same
 * random streams, so an outage leaves no trace in the run.
 *
 * Errors that come again are not tried again: wrong use, a closed engine, and in a run that never had a reward all but something
 * that was away or late.
 *
 * @throws RunStoppedError when the budget is spent; what {@link collectIteration} throws.
 */
export async function collectPatiently<Metadata>(
  dependencies: RlDependencies<Metadata>,
  context: PatienceContext,
): Promise<Collection<Metadata> | undefined> {
  const { tasks, rollouts, signal, sleep = pause } = dependencies;
  const { share, retries, backOffMs, whenSpent } = context.options.failureBudget;
  const cursor = tasks.cursor;
  for (let tries = 0; ; tries++) {
    const collection = await collectIteration(dependencies, context);
    if (collection === undefined) return undefined;
    const cause = causeOfLoss(collection, share, rollouts.lastError);
    if (cause === undefined) return collection;
    const transience = transienceOf(cause.error);
    const mayPass = transience === 'passing' || (transience === 'unknown' && context.history() === 'scored');
    if (tries >= retries || !mayPass) {
      if (whenSpent === 'continue') return collection;
      tasks.seek(cursor);
      throw new RunStoppedError(cause, context);
    }
    tasks.seek(cursor);
    const waitMs = Math.min(longestBackOffMs, backOffMs * 2 ** tries);
    context.say(
      `${cause.sentence}; the tasks are given back and tried again in ${waitMs / 1000} s (${tries + 1} of ${retries})`,
    );
    await sleep(waitMs, signal);
    if (signal?.aborted) return undefined;
  }
}
