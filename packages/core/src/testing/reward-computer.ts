import type { RewardComputer } from '../reward.ts';
import type { Trajectory, TrajectoryGroup } from '../trajectory.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface RewardComputerSubject<Metadata> {
  readonly create: () => RewardComputer<Metadata>;
  /** A group that it can score. At least two trajectories, their ids distinct. */
  readonly group: TrajectoryGroup<Metadata>;
}

/**
 * Contract of {@link RewardComputer}. Run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeRewardComputer<Metadata>(
  name: string,
  { create, group }: RewardComputerSubject<Metadata>,
): void {
  describe(`${name} is a RewardComputer`, () => {
    it('scores every trajectory once, in order', async () => {
      const scored = await create().computeRewards(group);
      expect(scored.map(({ trajectory }) => trajectory)).toEqual(group.trajectories);
    });

    it('gives finite rewards and components, or null', async () => {
      for (const { reward, components } of await create().computeRewards(group)) {
        for (const value of [reward, ...Object.values(components)]) {
          expect(value === null || Number.isFinite(value)).toBe(true);
        }
      }
    });

    it('leaves the group as it was', async () => {
      const before = structuredClone(group);
      await create().computeRewards(group);
      expect(group).toEqual(before);
    });

    it('gives null to a trajectory that failed, and its siblings what they deserve', async () => {
      const broken = failed(group.trajectories[0]!);
      const siblings = group.trajectories.slice(1);
      const scored = await create().computeRewards({ ...group, trajectories: [broken, ...siblings] });
      expect(scored).toHaveLength(group.trajectories.length);
      expect(scored[0]!.reward).toBeNull();
      expect(scored.slice(1).some(({ reward }) => reward !== null)).toBe(true);
    });

    it('scores an empty group with nothing', async () => {
      expect(await create().computeRewards({ ...group, trajectories: [] })).toEqual([]);
    });

    it("rejects with the signal's reason once aborted", async () => {
      const signal = AbortSignal.abort(new Error('enough'));
      await expect(create().computeRewards(group, { signal })).rejects.toThrow('enough');
    });
  });
}

function failed<Metadata>(trajectory: Trajectory<Metadata>): Trajectory<Metadata> {
  return {
    ...trajectory,
    steps: [],
    messages: [],
    response: '',
    status: 'failed',
    failure: { boundary: 'environment', message: 'the contract suite broke it' },
  };
}
