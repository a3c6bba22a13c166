import type { Step, Trajectory } from '@rlp/core';

/** A trajectory whose steps have texts and no tokens: those are most of what there is to copy. */
export function withoutTokens<Metadata>(trajectory: Trajectory<Metadata>): Trajectory<Metadata> {
  const none = { promptTokens: [], tokens: [], behaviorLogprobs: [] };
  return { ...trajectory, steps: trajectory.steps.map((step) => ({ ...step, ...none })) };
}

/** The trajectory of a thread that got no tokens, with those of the one it was made of. */
export function withTokensOf<Metadata>(
  { steps }: Trajectory<Metadata>,
  trajectory: Trajectory<Metadata>,
): Trajectory<Metadata> {
  const restored = (step: Step, index: number): Step => {
    const given = steps[index];
    if (given === undefined) return step;
    const { promptTokens, tokens, behaviorLogprobs } = given;
    return { ...step, promptTokens, tokens, behaviorLogprobs };
  };
  return { ...trajectory, steps: trajectory.steps.map(restored) };
}
