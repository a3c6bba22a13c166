import type { ScoredTrajectory, Trajectory } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import type { Collection } from './collect.ts';
import { causeOfLoss } from './lost-iteration.ts';
import type { ScoredGroup } from './protocol.ts';

type Member = Omit<Partial<ScoredTrajectory>, 'trajectory'> & { readonly trajectory?: Partial<Trajectory> };

/** Why an iteration is lost whose only group has these members. */
function loss(members: readonly Member[], more: Partial<Collection> = {}, lastError?: unknown) {
  const scored = members.map(({ trajectory, ...score }) => ({
    ...{ reward: null, components: {}, ...score },
    trajectory: { status: 'completed', steps: [{}], ...trajectory },
  }));
  const groups = [{ group: {}, scored }] as unknown as ScoredGroup[];
  const collection = { groups, collected: members.length === 0 ? [] : groups, taken: 2, rounds: 1, ...more };
  const found = causeOfLoss(collection, 0.5, lastError);
  return found && `${found.reason}: ${found.sentence}; ${found.remedy}`;
}

const rewarded: Member = { reward: 1 };
const unscored: Member = { reward: null };
const failed: Member = {
  trajectory: { status: 'failed', failure: { boundary: 'environment', message: 'no board' } as never },
};
const judge = { source: 'reward', message: 'reward "judge": timed out' } as never;
const unjudged: Member = { failures: [judge] };
const silent = (trajectory: Partial<Trajectory> = {}): Member => ({
  reward: 1,
  trajectory: { steps: [], ...trajectory },
});
const cut = (termination: object) =>
  silent({ status: 'truncated', termination: termination as Trajectory['termination'] });

describe('an iteration is lost', () => {
  it('from the share of episodes without a reward that the budget names', () => {
    expect(loss([rewarded, rewarded, unscored])).toBeUndefined();
    expect(loss([rewarded, unscored])).toBe(
      'rewards-missing: 1 of 2 episodes has no reward; correct the failure, or raise `failureBudget.share`',
    );
    expect(loss([rewarded, failed, unscored])).toMatch(
      'rewards-missing: 2 of 3 episodes have no reward, the first failed at the environment: no board;',
    );
  });

  it.each<[string, Parameters<typeof loss>]>([
    [
      'nothing-collected: no episode of 2 tasks was kept; correct the failure, or keep failed episodes with `rollout.onFailure`',
      [[]],
    ],
    [
      'nothing-collected: no episode of 2 tasks was kept; the last failure: gone; correct the failure, ' +
        'or keep failed episodes with `rollout.onFailure`',
      [[], {}, new Error('gone')],
    ],
    [
      'episodes-failed: all 2 episodes failed, the first at the environment: no board; correct the environment, the tasks or the sampler',
      [[failed, failed]],
    ],
    [
      'rewards-failed: none of 1 finished episodes got a reward: reward "judge": timed out; correct the reward, or bring its judge ' +
        'back and resume',
      [[unjudged, failed]],
    ],
    [
      'rewards-null: the rewards of all 2 finished episodes are null; return a number if an answer can be judged',
      [[unscored, unscored]],
    ],
    ['rewards-null: the rewards of all 1 finished episodes are null', [[unscored, failed]]],
    [
      'nothing-collected: all 2 episodes were over before the policy was asked; make isTerminal of the environment false for the state ' +
        'that reset returns',
      [[silent(), silent()]],
    ],
    [
      'nothing-collected: all 2 episodes were cut before the policy answered, the first by its limit of tokens (8); ' +
        'shorten the prompts, raise the limit, or correct what takes so long',
      [[silent(), cut({ reason: 'tokens', detail: '8' })]],
    ],
    ['by its limit of time;', [[cut({ reason: 'time' })]]],
    [
      'rewards-rejected: the reward computer failed: no such table; return null for what it cannot score',
      [[unscored], { rejection: new Error('no such table') }],
    ],
  ])('and says why: %s', (sentence, args) => {
    expect(loss(...args)).toContain(sentence);
  });

  it('but not if one episode had an answer, or if a silent one failed', () => {
    expect(loss([silent(), rewarded])).toBeUndefined();
    expect(loss([silent(), silent({ status: 'aborted' })])).toBeUndefined();
  });
});
