import {
  type Completion,
  described,
  type InferenceEngine,
  isRecord,
  type Sampler,
  SamplerError,
  type StopReason,
  type TokenId,
  type Watchdog,
} from '@rlp/core';
import type { ResolvedRolloutOptions } from '../options.ts';
import { callSampler, lazily } from './boundary.ts';

/** Request for the completions of one turn. */
export interface TurnRequest {
  readonly prompt: readonly TokenId[];
  readonly maxTokens: number;
  readonly count: number;
  /** Names the turn's random stream within the run. */
  readonly seed: string;
}

/** Options of sampling, and what may end the wait for it. */
interface TurnLimits {
  readonly options: ResolvedRolloutOptions;
  readonly signal: AbortSignal;
  readonly watchdog: Watchdog;
}

/**
 * Draws completions of one turn and checks them. An unnoticed NaN would fail the update of a whole batch.
 *
 * @throws SamplerError if the sampler fails; the signal's reason once aborted.
 */
export function sampleTurn(
  sampler: Sampler,
  request: TurnRequest,
  { options, ...limits }: TurnLimits,
): Promise<readonly Completion[]> {
  return callSampler(async (own) => {
    const completions = await sampler.sample(lazily(own, { ...options.sampling, ...request }));
    const { vocabularySize = Number.POSITIVE_INFINITY } = sampler as Partial<InferenceEngine>;
    checkCompletions(completions, request.count, vocabularySize);
    return completions;
  }, limits);
}

const stopReasons: readonly unknown[] = ['stop', 'length', 'abort'] satisfies StopReason[];

function checkCompletions(completions: readonly Completion[], count: number, vocabularySize: number): void {
  if ((completions as typeof completions | undefined)?.length !== count) {
    const got = (completions as typeof completions | undefined)?.length ?? described(completions);
    throw new SamplerError(`sampler.sample: expected ${count} completions, got ${got}`);
  }
  for (const [member, completion] of completions.entries()) {
    const problem = problemOf(completion) ?? tokenProblemOf(completion, vocabularySize);
    if (problem !== undefined) throw new SamplerError(`sampler.sample: completion ${member} must ${problem}`);
  }
}

function problemOf(completion: Completion): string | undefined {
  if (!isRecord(completion)) return `be an object, got ${described(completion)}`;
  const { policyVersion, text, stopReason }: Completion = completion;
  if (!Number.isFinite(policyVersion)) return `have a number as policyVersion, got ${String(policyVersion)}`;
  if (typeof text !== 'string') return `have a text, got ${described(text)}`;
  if (stopReasons.includes(stopReason)) return undefined;
  return `have one of ${stopReasons.join(', ')} as stopReason, got ${described(stopReason)}`;
}

function tokenProblemOf(
  { tokens, behaviorLogprobs }: Completion,
  vocabularySize: number,
): string | undefined {
  if (!Array.isArray(tokens) && !ArrayBuffer.isView(tokens))
    return `have a list of tokens, got ${described(tokens)}`;
  const foreign = tokens.find((token) => !(Number.isInteger(token) && token >= 0 && token < vocabularySize));
  if (foreign !== undefined) {
    const below = Number.isFinite(vocabularySize) ? ` below ${vocabularySize}` : '';
    return `have ids of the vocabulary${below} as tokens, got ${described(foreign)}`;
  }
  const expected = 'have one finite logprob of at most 0 per token, got';
  if (behaviorLogprobs?.length !== tokens.length) {
    return `${expected} ${behaviorLogprobs?.length ?? described(behaviorLogprobs)} for ${tokens.length} tokens`;
  }
  const bad = behaviorLogprobs.find((logprob) => !(logprob <= 0 && Number.isFinite(logprob)));
  return bad === undefined ? undefined : `${expected} ${String(bad)}`;
}
