/** An environment of one's own with a stock reward: guess a number of 1 to 3 in two tries. Run it: pnpm start */
import { GRPOAlgorithm } from '@rlp/algorithms';
import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import type { State, Task } from '@rlp/core';
import { BaseEnvironment, taskSource } from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { exactAnswer, rewardFunctions } from '@rlp/rewards';

interface Secret {
  readonly answer: string;
}

interface Game extends State, Secret {
  readonly prompt: string;
}

interface Outcome {
  readonly isWon: boolean;
  readonly tries: number;
}

/** The policy sees `?` and guesses; if it is wrong it hears `<` or `>` and guesses once more. */
class HotAndCold extends BaseEnvironment<Game, Secret, Outcome> {
  override reset({ metadata }: Task<Secret>): Game {
    return { prompt: '?', response: '', stepCount: 0, ...metadata };
  }

  override updateState(state: Game, response: string): Game {
    const hint = response < state.answer ? '>' : '<';
    return { ...state, prompt: state.prompt + response + hint, response, stepCount: state.stepCount + 1 };
  }

  override isTerminal({ stepCount, response, answer }: Game): boolean {
    return stepCount === 2 || response === answer;
  }

  override outcome({ stepCount, response, answer }: Game): Outcome {
    return { isWon: response === answer, tries: stepCount };
  }
}

/** Trains a table of logits to play; yields the share of games won, iteration by iteration. */
export async function* play(iterations: number): AsyncGenerator<number> {
  const tokenizer = characterTokenizer('?<>123', { end: '.' });
  const backend = new TabularBackend({
    vocabularySize: tokenizer.vocabularySize,
    contextTokens: 2,
    learningRate: 0.3,
  });
  const sampler = new TabularSampler({ backend, tokenizer });
  const tasks = ['1', '2', '3'].map((answer) => ({ id: answer, prompt: '?', metadata: { answer } }));
  const algorithm = new GRPOAlgorithm(
    {
      environment: new HotAndCold(),
      tasks: taskSource(tasks),
      rewards: rewardFunctions({
        accuracy: exactAnswer({ reference: ({ answer }) => answer, extract: (text) => text }),
        // Only observed: its weight is 0. The functions know the tasks' metadata and the environment's outcome.
        thrift: { reward: ({ outcome }) => (outcome?.isWon ? 1 / outcome.tries : 0), weight: 0 },
      }),
      sampler,
      backend,
      tokenizer,
    },
    { tasksPerIteration: 6, rollout: { sampling: { maxTokens: 1 } } },
  );
  for await (const { metrics } of algorithm.run({ iterations })) yield metrics['reward/mean'] ?? 0;
}
