import type { StopReason, TokenId } from '@rlp/core';
import { RequestError } from '@rlp/http/client';
import type { RemoteRequest, RemoteSequence } from './remote-server.ts';

/** Limits that an answer is checked against. */
export interface AnswerLimits {
  readonly place: string;
  readonly vocabularySize: number;
}

/** A completion that passed the checks. */
export interface CheckedSequence {
  readonly tokens: readonly TokenId[];
  readonly logprobs: readonly number[];
  readonly stopReason: StopReason;
}

/** Largest logprob. Rounding may bring that of a certain token above 0. */
export const mostLogprob = 1e-3;

/**
 * Checks that a server's answer fits its request.
 *
 * @throws RequestError naming the first thing that is wrong.
 */
export function checkedSequences(
  sequences: readonly RemoteSequence[],
  request: Pick<RemoteRequest, 'count' | 'maxTokens'>,
  limits: AnswerLimits,
): CheckedSequence[] {
  if (sequences.length !== request.count) {
    throw unusable(
      limits,
      `expected ${request.count} completions, got ${sequences.length}`,
      remedies.protocol,
    );
  }
  return sequences.map((sequence) => checked(sequence, request, limits));
}

/** Error for an answer that does not fit its request, with what to do. */
export function unusable(
  { place }: Pick<AnswerLimits, 'place'>,
  problem: string,
  remedy: string,
): RequestError {
  return new RequestError('malformed', `${place}: ${problem}`, { remedy });
}

/** What to do about answers that do not fit their requests. */
export const remedies = {
  protocol: 'check the version of the server, which does not keep to its protocol',
  logprobs: 'check the version of the server and that it was started with natural logprobs',
  tokenizer: 'check that `tokenizer` and `vocabularySize` belong to the model of the server',
  tokens: 'check that nothing between here and the server changes requests',
  weights: 'check that nobody else loads weights into this server',
} as const;

function checked(
  { tokens, logprobs, finish }: RemoteSequence,
  { maxTokens }: Pick<RemoteRequest, 'maxTokens'>,
  limits: AnswerLimits,
): CheckedSequence {
  const refuse = (problem: string, remedy: string = remedies.protocol) => {
    throw unusable(limits, problem, remedy);
  };
  if (finish !== 'stop' && finish !== 'length') {
    refuse(`expected a completion that ended with "stop" or "length", got "${finish}"`);
  }
  if (tokens.length === 0 || tokens.length > maxTokens) {
    refuse(`expected 1 to ${maxTokens} tokens in a completion, got ${tokens.length}`);
  }
  if (finish === 'length' && tokens.length < maxTokens) {
    refuse(`expected ${maxTokens} tokens of a completion that ended by its length, got ${tokens.length}`);
  }
  const { vocabularySize } = limits;
  const foreign = tokens.find((token) => !(Number.isInteger(token) && token >= 0 && token < vocabularySize));
  if (foreign !== undefined) {
    refuse(`got token ${foreign}, outside the tokenizer's ${vocabularySize}`, remedies.tokenizer);
  }
  if (logprobs.length !== tokens.length) {
    refuse(`expected ${tokens.length} logprobs, one per token, got ${logprobs.length}`, remedies.logprobs);
  }
  const wrong = logprobs.find((logprob) => !(Number.isFinite(logprob) && logprob <= mostLogprob));
  if (wrong !== undefined) {
    refuse(`expected natural logarithms of probabilities, got ${wrong}`, remedies.logprobs);
  }
  return {
    tokens,
    logprobs: logprobs.map((logprob) => Math.min(0, logprob)),
    stopReason: finish === 'length' ? 'length' : 'stop',
  };
}
