import type { Environment, State } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { RolloutManager, type RolloutOptions } from './index.ts';
import { characters } from './testing.ts';

/** A manager over a sampler whose context holds 32 tokens. */
function manage(options?: RolloutOptions) {
  const environment = {} as Environment<State>;
  const sampler = { policyVersion: 0, contextLength: 32, sample: async () => [] };
  return new RolloutManager({ environment, sampler, tokenizer: characters }, options);
}

describe('answers longer than the context', () => {
  const sampling = { maxTokens: 5000 };

  it('are refused beyond the length that was chosen', () => {
    expect(() => manage({ contextLength: 16, sampling })).toThrow(
      '`sampling.maxTokens` is 5000, but contextLength holds 16 tokens of prompt and answer together: ' +
        'set it below 16, or make the context longer',
    );
  });

  it("are refused beyond the sampler's", () => {
    expect(() => manage({ sampling })).toThrow("but the sampler's context holds 32 tokens");
    expect(() => manage({ contextLength: 64, sampling })).toThrow(
      "but the sampler's context holds 32 tokens",
    );
  });

  it('are never those of the default', () => {
    expect(() => manage()).not.toThrow();
    expect(() => manage({ contextLength: 16 })).not.toThrow();
  });
});
