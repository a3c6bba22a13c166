import type { InferenceModule } from '@rlp/inference';
import { extractTag } from '@rlp/rewards';
import type { AdditionTask } from './addition.ts';

/** What the model answers when it is not left to chance. */
export interface Evaluation {
  /** Share of problems whose answer is exactly right. */
  readonly accuracy: number;
  readonly responses: readonly {
    readonly prompt: string;
    readonly answer: string;
    readonly response: string;
  }[];
}

const answerOf = extractTag('answer');

/** Greedy exact-answer accuracy. Without a signal it runs to its end. */
export async function evaluate(
  inference: InferenceModule,
  tasks: readonly AdditionTask[],
  signal?: AbortSignal,
): Promise<Evaluation> {
  const prompts = tasks.map(({ prompt }) => prompt as string);
  const texts = await inference.generate(prompts, { temperature: 0, maxTokens: 40, signal });
  const responses = tasks.map(({ metadata }, index) => ({
    prompt: prompts[index]!,
    answer: metadata.answer,
    response: texts[index]!.text,
  }));
  const right = responses.filter(({ answer, response }) => answerOf(response) === answer).length;
  return { accuracy: right / tasks.length, responses };
}
