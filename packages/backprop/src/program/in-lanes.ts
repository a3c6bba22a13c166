/** Runs of a graph for which lanes take turns. */
interface LaneWork<Result> {
  readonly count: number;
  readonly lanes: number;
  /** Starts a run in a lane that is free. Called in order of index. */
  readonly start: (index: number, lane: number) => Promise<Result>;
  /** Takes a result. Called in order of index, one after another. Then the lane is free. */
  readonly take: (result: Result, index: number, lane: number) => Promise<void>;
}

/**
 * Runs that are under way in several lanes at once, but begin and end in order, so that what is made of them does not depend on which is
 * faster.
 *
 * After a failure no run begins. Rejects with the first run's error, by index, once no run is under way.
 */
export async function inLanes<Result>({ count, lanes, start, take }: LaneWork<Result>): Promise<void> {
  let next = 0;
  let last: Promise<void> = Promise.resolve();
  const finish = async (run: Promise<Result>, before: Promise<void>, index: number, lane: number) => {
    const [outcome] = await Promise.allSettled([run]);
    await before;
    if (outcome.status === 'rejected') throw outcome.reason;
    await take(outcome.value, index, lane);
  };
  const work = async (lane: number) => {
    while (next < count) {
      const index = next++;
      last = finish(start(index, lane), last, index, lane);
      await last.catch((error) => {
        next = count;
        throw error;
      });
    }
  };
  const all = Array.from({ length: Math.min(lanes, count) }, (_, lane) => work(lane));
  const failed = (await Promise.allSettled(all)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
