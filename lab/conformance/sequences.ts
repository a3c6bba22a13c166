import { tokenSequences } from '@rlp/core';
import type { AdapterTable, FixtureCase } from './fixture.ts';

interface TinkerStep {
  readonly observation: readonly number[];
  readonly action: readonly number[];
  readonly logprobs: readonly number[];
  readonly masked: boolean;
}

/** tinker drops the last input and the first target, so everything but inputs begins at token 1. */
function tinker({ inputs, params }: FixtureCase): unknown {
  const steps = inputs.steps as TinkerStep[];
  const sequences = tokenSequences(
    steps.map(({ observation, action, logprobs, masked }) => ({
      promptTokens: observation,
      tokens: action,
      behaviorLogprobs: logprobs,
      use: masked ? 'context' : 'train',
    })),
  );
  return {
    examples: sequences.map(({ tokens, mask, behaviorLogprobs }) => ({
      input_tokens: tokens.slice(0, -1),
      target_tokens: tokens.slice(1),
      logprobs: behaviorLogprobs.slice(1),
      advantages: Array.from(mask.slice(1), (counts) => counts * params.advantage),
      mask: mask.slice(1),
    })),
  };
}

export const sequences: AdapterTable = { trajectory_to_examples_tinker: { trajectory_to_data: tinker } };
