import {
  ArgumentError,
  type RewardFunction,
  type Task,
  type TokenId,
  type Tokenizer,
  type TokenScorer,
  type Trajectory,
} from '@rlp/core';
import type { ChoiceBenchmark, ChoiceMetadata } from './benchmark.ts';

/** What asking for the options of a task gave. */
export interface ChoiceOutcome {
  /** `ln π(option | prompt)` by option. */
  readonly logprobs: readonly number[];
}

/** What scores options. */
export interface ChoicePolicy {
  readonly scorer: TokenScorer;
  readonly tokenizer: Tokenizer;
  readonly policyVersion: number;
}

/**
 * Tokens of a prompt and of what follows it. They are encoded together and split where the prompt alone ends, as lm_eval does,
 * because a tokenizer may join the end of the prompt with what follows.
 */
function encodedPair(
  tokenizer: Tokenizer,
  prompt: string,
  continuation: string,
): { readonly prompt: readonly TokenId[]; readonly completion: readonly TokenId[] } {
  // Spaces at the end of the prompt belong to what follows.
  const text = prompt.trimEnd();
  const whole = tokenizer.encode(prompt + continuation);
  const { length } = tokenizer.encode(text);
  return { prompt: whole.slice(0, length), completion: whole.slice(length) };
}

/** Asks for the probabilities of the options of a task and returns an episode whose response is the likeliest. */
export async function chooseOption(
  task: Task<ChoiceMetadata>,
  { scorer, tokenizer, policyVersion }: ChoicePolicy,
  signal: AbortSignal | undefined,
): Promise<Trajectory<ChoiceMetadata, ChoiceOutcome>> {
  if (typeof task.prompt !== 'string') {
    throw new ArgumentError(`chooseOption: task "${task.id}" has messages as its prompt, expected text`);
  }
  const { prompt, metadata } = task;
  const requests = metadata.choices.map((choice) => encodedPair(tokenizer, prompt, choice));
  const scores = await scorer.scoreTokens(requests, signal && { signal });
  const logprobs = scores.map((score) => score.logprobs.reduce((sum, logprob) => sum + logprob, 0));
  const best = logprobs.indexOf(Math.max(...logprobs));
  const response = metadata.choices[best]!;
  return {
    id: `0/${task.id}/0`,
    task,
    steps: [
      {
        promptTokens: requests[best]!.prompt,
        tokens: requests[best]!.completion,
        behaviorLogprobs: Array.from(scores[best]!.logprobs),
        text: response,
        stopReason: 'stop',
        policyVersion,
      },
    ],
    messages: [
      { role: 'user', content: prompt },
      { role: 'assistant', content: response },
    ],
    response,
    status: 'completed',
    outcome: { logprobs },
    policyVersion,
    group: { id: `0/${task.id}`, member: 0 },
  };
}

/** An episode whose options could not be scored. */
export function failedChoice(
  task: Task<ChoiceMetadata>,
  { policyVersion }: ChoicePolicy,
  message: string,
): Trajectory<ChoiceMetadata, ChoiceOutcome> {
  return {
    ...{ id: `0/${task.id}/0`, task, steps: [], messages: [], response: '', policyVersion },
    status: 'failed',
    failure: { boundary: 'sampler', message },
  };
}

type ChoiceMetric = RewardFunction<ChoiceMetadata, ChoiceOutcome>;

/** The metrics of lm_eval: `acc`, and `acc_norm` by logprob per character; or the mass of all right options. */
export function choiceMetrics({ scoring }: ChoiceBenchmark): Readonly<Record<string, ChoiceMetric>> {
  if (scoring === 'mass') return { acc: massOfRight };
  return {
    acc: ({ task, outcome }) => labelOfBest(task.metadata, outcome!.logprobs),
    acc_norm({ task: { metadata }, outcome }) {
      // Without the space between prompt and option.
      const lengths = metadata.choices.map((choice) => Array.from(choice).length - 1);
      return labelOfBest(
        metadata,
        outcome!.logprobs.map((logprob, option) => logprob / lengths[option]!),
      );
    },
  };
}

/** Of options that are equally likely the first counts. */
function labelOfBest({ labels }: ChoiceMetadata, scores: readonly number[]): number {
  return labels[scores.indexOf(Math.max(...scores))]!;
}

const massOfRight: ChoiceMetric = ({ task, outcome }) => {
  const { logprobs } = outcome!;
  const largest = Math.max(...logprobs);
  const masses = logprobs.map((logprob) => Math.exp(logprob - largest));
  const right = masses.filter((_, option) => task.metadata.labels[option] === 1);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return sum(right) / sum(masses);
};
