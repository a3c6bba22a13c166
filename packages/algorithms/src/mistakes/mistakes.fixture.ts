import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import { rootCause } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { rewardFunctions } from '@rlp/rewards';
import { expect, it } from 'vitest';
import { GRPOAlgorithm, type GrpoOptions } from '../algorithm/grpo.ts';

/** What is done wrong, how, and the one sentence that it earns. */
export type Mistake = readonly [name: string, make: () => unknown, message: RegExp];

/** Every mistake rejects with an error of the project that says what to do. */
export function describeMistakes(mistakes: readonly Mistake[]): void {
  it.each(mistakes)('%s', async (_, make, message) => {
    const error: unknown = await Promise.resolve()
      .then(make)
      .then((result) => `no error: ${JSON.stringify(result)}`)
      .catch((reason: unknown) => reason);
    expect(String(error)).toMatch(message);
    expect((error as Error).name).toMatch(
      /^(Argument|Options|Format|Engine|Reward|Training|Sampler|RunStopped)Error$/,
    );
    // No raw words of a validator, and nothing that only its author understands.
    expect(String(error)).not.toMatch(/Invalid (input|option)|Too (small|big)|received|\[object/);
    expect(rootCause(error)).toBeInstanceOf(Error);
  });
}

const tokenizer = characterTokenizer('abc', { end: '.' });

/** A table policy that writes letters, and all that a run needs. Parts are given in its place. */
export function smallRun(parts: object = {}) {
  const backend = new TabularBackend({ vocabularySize: tokenizer.vocabularySize, contextTokens: 1 });
  const environment = new SimpleTextEnvironment({ prompts: ['a', 'b'] });
  return {
    environment,
    tokenizer,
    backend,
    sampler: new TabularSampler({ backend, tokenizer }),
    tasks: taskSource(environment.tasks),
    rewards: rewardFunctions({ short: ({ response }) => -response.length }),
    ...parts,
  };
}

export const smallOptions = {
  tasksPerIteration: 2,
  rollout: { groupSize: 4, sampling: { maxTokens: 5 } },
} satisfies GrpoOptions;

/** Trains a little, with parts and options as somebody without a compiler gives them. */
export function train(parts: object = {}, options: object = smallOptions, iterations = 2): Promise<unknown> {
  const algorithm = new GRPOAlgorithm(smallRun(parts) as never, options as GrpoOptions);
  return algorithm.train({ iterations, print: 'none' });
}
