import { ArgumentError } from '../errors.ts';
import type { GroupJob, RolloutPool } from '../group-job.ts';
import type { TrajectoryGroup } from '../trajectory.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface RolloutPoolSubject {
  /** A pool of two workers. The suite closes it. */
  readonly create: () => RolloutPool | Promise<RolloutPool>;
  /** A separate job for each number. Its group has at least two trajectories, and takes some milliseconds. */
  readonly job: (index: number) => GroupJob;
  /** What a rollout manager of this process makes of a job. */
  readonly expected: (job: GroupJob) => Promise<TrajectoryGroup>;
  /** A job that ends its worker whenever it is tried. Default: the case is left out. */
  readonly deadly?: (() => GroupJob) | undefined;
  /** Ends a worker of the pool that `create` made last, at once. Default: the case is left out. */
  readonly kill?: (() => void | Promise<void>) | undefined;
}

/** A group as it is written to files. */
const written = (group: TrajectoryGroup) => JSON.stringify(group);

/**
 * Contract of {@link RolloutPool}. Run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeRolloutPool(name: string, subject: RolloutPoolSubject): void {
  const { create, job, expected, deadly, kill } = subject;
  const using = async (work: (pool: RolloutPool) => Promise<void>) => {
    const pool = await create();
    try {
      await work(pool);
    } finally {
      await pool.close();
    }
  };
  const all = (pool: RolloutPool, jobs: readonly GroupJob[]) => Promise.all(jobs.map((one) => pool.run(one)));
  const jobs = (from: number, count: number) => Array.from({ length: count }, (_, i) => job(from + i));

  describe(`${name} is a RolloutPool`, () => {
    it('gives the groups of this process, byte for byte, in whatever order they are asked for', () =>
      using(async (pool) => {
        const wanted = jobs(0, 8);
        const groups = await all(pool, wanted);
        const others = await all(pool, wanted.toReversed());
        for (const [i, one] of wanted.entries()) {
          expect(written(groups[i]!)).toBe(written(await expected(one)));
          expect(written(others.at(-1 - i)!)).toBe(written(groups[i]!));
        }
      }));

    it('runs a job that comes twice', () =>
      using(async (pool) => {
        const one = job(20);
        const [first, second] = await all(pool, [one, structuredClone(one)]);
        expect(written(first!)).toBe(written(second!));
      }));

    it('rejects with the signal’s reason once aborted, while others go on', () =>
      using(async (pool) => {
        const controller = new AbortController();
        const stopped = pool.run(job(30), { signal: controller.signal });
        const other = pool.run(job(31));
        controller.abort(new Error('enough'));
        await expect(stopped).rejects.toThrow('enough');
        expect((await other).id).toBe(job(31).groupId);
        await expect(pool.run(job(32), { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow(
          'before',
        );
      }));

    it.skipIf(kill === undefined)('loses and doubles nothing when workers end', () =>
      using(async (pool) => {
        const wanted = jobs(40, 12);
        const told: string[] = [];
        const running = wanted.map(async (one) => {
          const group = await pool.run(one);
          told.push(group.id);
          return group;
        });
        await running[0];
        await kill!();
        await running[3];
        await kill!();
        const groups = await Promise.all(running);
        expect(told.toSorted()).toEqual(wanted.map(({ groupId }) => groupId).toSorted());
        for (const [i, one] of wanted.entries()) {
          expect(written(groups[i]!)).toBe(written(await expected(one)));
        }
      }),
    );

    it.skipIf(deadly === undefined)('gives up a job that ends every worker, while others go on', () =>
      using(async (pool) => {
        const dead = pool.run(deadly!());
        const other = pool.run(job(60));
        await expect(dead).rejects.toThrow(deadly!().name);
        expect((await other).id).toBe(job(60).groupId);
      }),
    );

    it('rejects once closed', async () => {
      const pool = await create();
      await pool.close();
      await pool.close();
      await expect(pool.run(job(70))).rejects.toThrow(ArgumentError);
    });
  });
}
