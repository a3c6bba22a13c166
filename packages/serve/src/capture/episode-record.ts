import {
  EnvironmentError,
  messageOf,
  type RlpError,
  SamplerError,
  type Step,
  type Task,
  type Termination,
  type Trajectory,
  type TrajectoryStatus,
  withCause,
} from '@rlp/core';
import type { CapturedEpisode } from './captured-episode.ts';
import { conversationsOf } from './conversations.ts';
import { plainOutcome } from './plain-outcome.ts';
import { errorWithoutKey } from './without-key.ts';

/** How an agent's run ended: it returned, threw, took too long, or was stopped from outside. */
export type AgentEnd =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'late'; readonly timeoutMs: number }
  | { readonly kind: 'aborted' };

/** An episode's record and the error that broke it. */
export interface CapturedRecord {
  readonly trajectory: Trajectory;
  readonly error?: RlpError | undefined;
  readonly note?: string | undefined;
}

/** How an episode ended, and how its steps are named. */
interface RecordOptions {
  readonly end: AgentEnd;
  readonly apiKey: string;
  readonly stateKey?: ((step: Step) => string) | undefined;
}

interface Verdict {
  readonly status: Exclude<TrajectoryStatus, 'pending'>;
  readonly termination: Termination;
  readonly error?: RlpError | undefined;
}

/** The trajectory of an episode that ended. */
export function recordOf(
  episode: CapturedEpisode,
  place: { readonly task: Task; readonly group: { readonly id: string; readonly member: number } },
  { end, apiKey, stateKey }: RecordOptions,
): CapturedRecord {
  const { answers, splits } = episode;
  const { policy } = episode.answerer;
  const { steps: plain, messages, count } = conversationsOf(answers, policy.tokenizer);
  const steps = stateKey === undefined ? plain : plain.map((step) => ({ ...step, stateKey: stateKey(step) }));
  const { status, termination, error } = verdictOf(episode, end, apiKey);
  const { value, note } = end.kind === 'returned' ? plainOutcome(end.value, apiKey) : {};
  const { all, unanswered } = episode.requests;
  const boundary = error instanceof SamplerError ? ('sampler' as const) : ('environment' as const);
  const trajectory: Trajectory = {
    id: `${place.group.id}/${place.group.member}`,
    task: place.task,
    steps,
    messages,
    response: steps.at(-1)?.text ?? '',
    ...{ status, termination },
    ...(value !== undefined && status !== 'failed' && { outcome: value }),
    metrics: {
      'capture/requests': all,
      'capture/unanswered': unanswered,
      'capture/conversations': count,
      'capture/splits': splits.length,
    },
    policyVersion: Math.min(...steps.map((step) => step.policyVersion!), policy.policyVersion),
    group: place.group,
    ...(error && { failure: withCause({ boundary, message: error.message }, error) }),
  };
  return { trajectory, error, note };
}

function verdictOf(episode: CapturedEpisode, end: AgentEnd, apiKey: string): Verdict {
  const { limit, samplerError, answers } = episode;
  if (end.kind === 'aborted') return { status: 'aborted', termination: { reason: 'aborted' } };
  if (limit === 'turns') return { status: 'truncated', termination: { reason: 'turns' } };
  if (end.kind === 'late') {
    if (samplerError !== undefined) return failed(samplerError);
    const detail = `the agent did not end within ${end.timeoutMs} ms (agentTimeoutMs)`;
    return { status: 'truncated', termination: { reason: 'budget', detail } };
  }
  if (end.kind === 'threw') {
    if (limit === 'tokens') return tooLong;
    if (samplerError !== undefined) return failed(samplerError);
    const cause = errorWithoutKey(end.error, apiKey);
    return failed(new EnvironmentError(`the agent threw: ${messageOf(cause)}`, { cause }));
  }
  const last = answers.at(-1);
  if (limit === 'tokens' && last === undefined) return tooLong;
  if (last === undefined) return failed(samplerError ?? unanswered(episode));
  if (last.completion.stopReason === 'length') return tooLong;
  return { status: 'completed', termination: { reason: 'environment' } };
}

const tooLong: Verdict = { status: 'truncated', termination: { reason: 'tokens' } };

/** Error of an agent that ended without an answer. */
function unanswered({ requests, refusal }: CapturedEpisode): EnvironmentError {
  if (refusal !== undefined)
    return new EnvironmentError(
      `expected the agent to get an answer, but its requests were refused: ${refusal}`,
    );
  const asked = requests.all === 0 ? 'asked the policy nothing' : `got no answer to ${requests.all} requests`;
  return new EnvironmentError(`the agent ended and ${asked}; give its client baseURL, apiKey and model`);
}

function failed(error: RlpError): Verdict {
  return { status: 'failed', termination: { reason: 'error', detail: error.message }, error };
}
