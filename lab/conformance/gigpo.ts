import {
  anchorGroups,
  type GigpoOptions,
  gigpoAdvantages,
  sequenceRatio,
  sequenceScores,
  spreadOverTokens,
} from '@rlp/algorithms/advantage';
import { applyGigpoToBatchSteps } from '@rlp/algorithms/steps';
import type { StepData, StepTrace } from '@rlp/core';
import type { AdapterTable, FixtureCase } from './fixture.ts';

function optionsOf({ params }: FixtureCase): GigpoOptions {
  return {
    discount: params.gamma,
    scale: params.mode === 'mean_std_norm' ? 'std' : 'none',
    epsilon: params.epsilon,
  };
}

function verlAgent(fixtureCase: FixtureCase): unknown {
  const { inputs, params } = fixtureCase;
  const anchors = anchorGroups(inputs.anchor, inputs.group, { scalars: 'python' });
  const steps = {
    groups: inputs.group,
    trajectories: inputs.traj,
    anchors,
    stepRewards: inputs.step_rewards,
    episodeScores: sequenceScores(inputs.token_rewards),
  };
  const options = { ...optionsOf(fixtureCase), weight: params.step_advantage_w };
  const result = gigpoAdvantages(steps, { ...options, episodeStatistics: 'step-rows' });
  const perTrajectory = gigpoAdvantages(steps, { ...options, episodeStatistics: 'per-trajectory' });
  return {
    step_returns: result.stepReturns,
    step_group: anchors,
    episode_advantages: spreadOverTokens(result.episode, inputs.mask),
    episode_advantages_per_trajectory: spreadOverTokens(perTrajectory.episode, inputs.mask),
    step_advantages: spreadOverTokens(result.step, inputs.mask),
    advantages: spreadOverTokens(result.advantages, inputs.mask),
  };
}

function convex({ inputs, params }: FixtureCase): unknown {
  const names: readonly string[] = inputs.traj;
  const episodes = [...new Set(names)].map((name) =>
    names.flatMap((traj, row) => (traj === name ? [row] : [])),
  );
  const traces: StepTrace[] = [];
  const { mode, gamma, omega, epsilon } = params;
  const steps = applyGigpoToBatchSteps(
    episodes.map((rows) => rows.map((row, at) => stepOf(row, at, inputs))),
    episodes.map(([row]) => inputs.episode_scores[row!]),
    {
      groups: episodes.map(([row]) => inputs.group[row!]),
      ...{ gamma, omega, epsilon, terminalScore: 'never' },
      scale: mode === 'mean_std_norm' ? 'std' : 'none',
      onTrace: (trace, { stepInfo }) => {
        traces[Number(stepInfo.row)] = trace;
      },
    },
  ).flat();
  const advantages = new Map(steps.map(({ stepInfo, advantage }) => [stepInfo.row, advantage]));
  return {
    step_returns: traces.map(({ returnToGo }) => returnToGo),
    episode_advantages: traces.map(({ episodeAdvantage }) => episodeAdvantage),
    step_advantages: traces.map(({ stepAdvantage }) => stepAdvantage),
    advantages: names.map((_, row) => advantages.get(row)),
  };
}

function stepOf(row: number, at: number, inputs: FixtureCase['inputs']): StepData {
  return {
    systemStepIndex: at,
    observationData: undefined,
    actionTaken: { type: 'text', content: '' },
    resultingMessagesHistory: [],
    isDone: false,
    stepInfo: { row, stateKey: JSON.stringify(inputs.anchor[row]) },
    baseReward: inputs.step_rewards[row],
  };
}

export const gigpo: AdapterTable = {
  gigpo_verlagent: {
    gigpo: verlAgent,
    step_group_exact: ({ inputs }) => ({ step_group: anchorGroups(inputs.anchor, inputs.group) }),
    step_group_structured: ({ inputs }) => ({
      step_group: anchorGroups(inputs.anchor, inputs.group, { scalars: 'python' }),
    }),
    step_group_similarity: ({ inputs, params }) => ({
      step_group: anchorGroups(inputs.anchor, inputs.group, {
        match: 'similar',
        threshold: params.threshold,
      }),
    }),
    sequence_ratio: ({ inputs }) => {
      const ratio = sequenceRatio(inputs.a, inputs.b);
      return { ratio, similar_095: ratio >= 0.95 };
    },
  },
  gigpo_convex_mix: { gigpo_convex: convex },
};
