import {
  ArgumentError,
  type EvaluateResult,
  requireArguments,
  rewardsOfTurns,
  type StepData,
} from '@rlp/core';

/** Who hears of judgements that fit no step. */
export interface AlignOptions {
  /** Takes one sentence per problem. Default none. The problems are in the result too. */
  readonly onNote?: ((text: string) => void) | undefined;
}

/** Steps with their rewards, and the problems of the judgements. */
export interface AlignedSteps {
  /** The steps, with `baseReward` where a step was judged. Shape `[episodes][steps]`. */
  readonly steps: readonly (readonly StepData[])[];
  /** Score of each episode. `null` if it could not be scored. Shape `[episodes]`. */
  readonly finalScores: readonly (number | null)[];
  /** One sentence per judgement that names no step of its episode, or one that was judged already. */
  readonly problems: readonly string[];
}

/**
 * Gives each step the reward that a user's judgement has for it.
 *
 * A step output belongs to the step whose `stepInfo.assistantTurnIndex` equals its `stepIndex`: the place of the step's answer among
 * the assistant messages, from 0. Steps without a judgement keep the reward that they had.
 *
 * @param results - One judgement per episode.
 * @throws ArgumentError unless there is one judgement per episode.
 */
export function alignRewardsWithStepData(
  results: readonly EvaluateResult[],
  episodes: readonly (readonly StepData[])[],
  options: AlignOptions = {},
): AlignedSteps {
  requireArguments(
    'alignRewardsWithStepData',
    { results: 'objects', episodes: 'objects[]', options: 'object?' },
    results,
    episodes,
    options,
  );
  const { onNote } = options;
  if (results.length !== episodes.length) {
    throw new ArgumentError(
      `alignRewardsWithStepData: expected one result per episode, got ${results.length} for ${episodes.length}`,
    );
  }
  const problems: string[] = [];
  const steps = episodes.map((episode, index) => {
    const turns = episode.map(({ stepInfo }, at) => String(stepInfo.assistantTurnIndex ?? at));
    const { rewards, problems: found } = rewardsOfTurns(turns, results[index]!.stepOutputs);
    problems.push(...found.map((problem) => `episode ${index}: ${problem}`));
    return episode.map((step, at) => (rewards.has(at) ? { ...step, baseReward: rewards.get(at) } : step));
  });
  for (const problem of problems) onNote?.(problem);
  const finalScores = results.map(({ score, isScoreValid, error }) =>
    isScoreValid && error === undefined ? score : null,
  );
  return { steps, finalScores, problems };
}
