import {
  type Completion,
  described,
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
    checkCompletions(completions, request.count);
    return completions;
  }, limits);
}

const stopReasons: readonly unknown[] = ['stop', 'length', 'abort'] satisfies StopReason[];

function checkCompletions(completions: readonly Completion[], count: number): void {
  if ((completions as typeof completions | undefined)?.length !== count) {
    const got = (completions as typeof completions | undefined)?.length ?? described(completions);
    throw new SamplerError(`sampler.sample: expected ${count} completions, got ${got}`);
  }
  for (const [member, completion] of completions.entries()) {
    const { tokens, behaviorLogprobs, policyVersion, text, stopReason } = completion;
    const place = `sampler.sample: completion ${member}`;
    if (!Number.isFinite(policyVersion)) {
      throw new SamplerError(`${place} must have a number as policyVersion, got ${policyVersion}`);
    }
    if (typeof text !== 'string') throw new SamplerError(`${place} must have a text, got ${String(text)}`);
    if (!stopReasons.includes(stopReason)) {
      throw new SamplerError(
        `${place} must have one of ${stopReasons.join(', ')} as stopReason, got ${described(stopReason)}`,
      );
    }
    const bad = behaviorLogprobs.find((logprob) => !(logprob <= 0 && Number.isFinite(logprob)));
    if (behaviorLogprobs.length === tokens.length && bad === undefined) continue;
    throw new SamplerError(
      `${place} must have one finite logprob of at most 0 per token, got ` +
        (bad === undefined ? `${behaviorLogprobs.length} for ${tokens.length} tokens` : String(bad)),
    );
  }
}
