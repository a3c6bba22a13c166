import {
  anchorGroups,
  type GigpoOptions,
  gigpoAdvantages,
  sequenceRatio,
  sequenceScores,
  spreadOverTokens,
} from '@rlp/algorithms/advantage';
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

function convex(fixtureCase: FixtureCase): unknown {
  const { inputs, params } = fixtureCase;
  const result = gigpoAdvantages(
    {
      groups: inputs.group,
      trajectories: inputs.traj,
      anchors: anchorGroups(inputs.anchor, inputs.group),
      stepRewards: inputs.step_rewards,
      episodeScores: inputs.episode_scores,
    },
    { ...optionsOf(fixtureCase), joint: 'mix', weight: params.omega },
  );
  return {
    step_returns: result.stepReturns,
    episode_advantages: result.episode,
    step_advantages: result.step,
    advantages: result.advantages,
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
