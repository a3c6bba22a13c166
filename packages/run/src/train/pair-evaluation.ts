import type { Evaluation } from '@rlp/core';
import { shareOf } from '../evaluate/intervals.ts';

/** Rewards of the two answers of a pair. */
interface JudgedTask {
  readonly task: string;
  readonly rewards: readonly [chosen: number, rejected: number];
  /** Tokens of the chosen answer with its prompt. */
  readonly tokens: number;
}

const confidence = 0.95;

/** The record of a model that rewards answers: the share of held-out pairs whose preferred answer gets the higher reward. */
export function pairEvaluation(
  judged: readonly JudgedTask[],
  about: Pick<Evaluation, 'name' | 'seed' | 'policyVersion'>,
): Evaluation {
  const right = judged.map(({ rewards: [chosen, rejected] }) => chosen > rejected);
  const accuracy = shareOf(
    right.map((isRight) => [isRight ? 1 : 0]),
    confidence,
  );
  return {
    record: 'evaluation',
    ...{ ...about, confidence, samples: 1 },
    ...(accuracy && { accuracy: accuracy.value, interval: accuracy.interval }),
    ...(accuracy?.low !== undefined && { low: accuracy.low, high: accuracy.high }),
    components: {},
    unscored: { count: 0, causes: {} },
    notes: ['accuracy is the share of pairs whose preferred answer gets the higher reward'],
    tasks: judged.map(({ task, rewards: [chosen, rejected], tokens }, at) => ({
      ...{ task, rewards: [chosen - rejected], components: {}, tokens: [tokens] },
      correct: [right[at]!],
    })),
  };
}
