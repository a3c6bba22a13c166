import {
  crowdingDistances,
  distanceToFrontier,
  ParetoRewardComputer,
  paretoRanks,
  paretoRewards,
  relativeRewards,
  standardizedRewards,
  svrlScore,
} from '@rlp/rewards/computers';
import type { AdapterTable, FixtureCase } from './fixture.ts';

/** rl_primitives standardises last, and only where there is more than one. */
function normalized(rewards: readonly (number | null)[], params: FixtureCase['params']): unknown {
  return params.normalize ? standardizedRewards(rewards) : rewards;
}

/** Infinity as the fixtures write it. */
function written(distances: readonly number[]): (number | string)[] {
  return distances.map((distance) => (distance === Number.POSITIVE_INFINITY ? 'inf' : distance));
}

/** Whether some value occurs twice in an objective: the paper's form then depends on how a sort leaves them. */
function hasTies(front: readonly (readonly number[])[]): boolean {
  return front[0]!.some((_, f) => new Set(front.map((point) => point[f])).size < front.length);
}

/** Crowding distances, each of the front its point is on; the fixture leaves fronts with ties out of the paper's form. */
function crowding(points: number[][], ranks: readonly number[], convention: 'deb' | 'pymoo') {
  const distances = new Array<number | string | null>(points.length).fill(null);
  for (const rank of new Set(ranks)) {
    const members = ranks.flatMap((other, n) => (other === rank ? [n] : []));
    const front = members.map((n) => points[n]!);
    if (convention === 'deb' && hasTies(front)) continue;
    const found = written(crowdingDistances(front, { convention }));
    for (const [place, n] of members.entries()) distances[n] = found[place]!;
  }
  return distances;
}

function nsga2({ inputs, params }: FixtureCase): unknown {
  const points = inputs.objectives as number[][];
  const isMinimized = params.sense === 'min';
  const ranks = paretoRanks(points, { direction: isMinimized ? 'minimize' : 'maximize' });
  const minimized = isMinimized ? points : points.map((point) => point.map((value) => -value));
  const fronts = Array.from({ length: Math.max(...ranks) + 1 }, (_, front) =>
    ranks.flatMap((rank, n) => (rank === front ? [n] : [])),
  );
  return {
    fronts,
    ranks,
    crowding_pymoo: crowding(minimized, ranks, 'pymoo'),
    crowding_deb: crowding(minimized, ranks, 'deb'),
  };
}

function pareto({ inputs, params }: FixtureCase): unknown {
  const duplicates = 'next-front';
  const ranks = paretoRanks(inputs.objectives, { duplicates });
  return {
    ranks,
    ranks_standard: paretoRanks(inputs.objectives),
    frontier: ranks.flatMap((rank, n) => (rank === 0 ? [n] : [])),
    rewards: normalized(paretoRewards(inputs.objectives, { duplicates }), params),
  };
}

/** One trajectory per point; its objectives read their values by its id. */
async function weightedSum({ inputs, params }: FixtureCase): Promise<unknown> {
  const points = inputs.objectives as number[][];
  const task = { id: 'points', prompt: '', metadata: undefined };
  const trajectories = points.map((_, n) => ({
    ...{ id: String(n), task, steps: [], messages: [], response: '', policyVersion: 0 },
    status: 'completed' as const,
  }));
  const computer = new ParetoRewardComputer({
    objectives: points[0]!.map(
      (_, f) =>
        ({ id }: { readonly id: string }) =>
          points[Number(id)]![f]!,
    ),
    weights: params.weights,
    method: 'absolute',
  });
  const scored = await computer.computeRewards({ id: 'points', task, trajectories });
  return { rewards: scored.map(({ reward }) => reward) };
}

interface SvrlTrajectory {
  readonly step_count: number;
  readonly acc: number;
  readonly verification_spent: number;
  readonly initial_budget: number;
  readonly max_steps: number;
}

function svrl({ inputs, params }: FixtureCase): unknown {
  const options = {
    verificationWeight: params.verification_weight,
    efficiencyWeight: params.efficiency_weight,
    emptyBudget: 'free',
  } as const;
  return {
    rewards: (inputs.trajectories as SvrlTrajectory[]).map((trajectory) =>
      svrlScore(
        {
          taskScore: trajectory.acc,
          spent: trajectory.verification_spent,
          budget: trajectory.initial_budget,
          steps: trajectory.step_count,
          maxTurns: trajectory.max_steps,
        },
        options,
      ),
    ),
  };
}

export const rewardComputers: AdapterTable = {
  nsga2_pymoo: { nsga2 },
  rewards_rl_primitives: {
    absolute_rewards: ({ inputs, params }) => ({ rewards: normalized(inputs.scores, params) }),
    relative_rewards: ({ inputs, params }) => ({
      rewards: normalized(relativeRewards(inputs.scores), params),
    }),
    pareto_rewards: pareto,
    distance_to_frontier: ({ inputs }) => ({ distance: distanceToFrontier(inputs.point, inputs.frontier) }),
    weighted_sum: weightedSum,
    svrl_score: svrl,
  },
};
