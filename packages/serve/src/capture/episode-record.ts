import {
  described,
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
  withPlace,
} from '@rlp/core';
import type { CapturedEpisode } from './captured-episode.ts';
import { conversationsOf } from './conversations.ts';
import type { EpisodeRequests } from './episode-requests.ts';
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
  /** What the record does not show. */
  readonly notes: readonly string[];
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
  const { answers, splits, requests, unmet } = episode;
  const { policy } = episode.answerer;
  const { steps: plain, messages, count } = conversationsOf(answers, policy.tokenizer);
  const { steps, problem } = stateKey === undefined ? { steps: plain } : keyed(plain, stateKey);
  const verdict = verdictOf(episode, end, apiKey);
  const { status, termination, error } =
    problem === undefined || verdict.status === 'aborted' || verdict.error ? verdict : failed(problem);
  const { value, note } = end.kind === 'returned' ? plainOutcome(end.value, apiKey) : {};
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
      'capture/requests': requests.all,
      'capture/unanswered': requests.unanswered,
      'capture/conversations': count,
      'capture/splits': splits.length,
    },
    policyVersion: Math.min(...steps.map((step) => step.policyVersion!), policy.policyVersion),
    group: place.group,
    ...(error && { failure: withCause({ boundary, message: error.message }, error) }),
  };
  const hasGoneOn = status === 'completed' || termination.reason === 'budget';
  const notes = [...unmet, ...(note === undefined ? [] : [note]), ...(hasGoneOn ? goneOn(requests) : [])];
  return { trajectory, error, notes };
}

/** Steps with the names of their states. Without them if one cannot be named. */
function keyed(
  steps: readonly Step[],
  stateKey: (step: Step) => unknown,
): { readonly steps: readonly Step[]; readonly problem?: EnvironmentError } {
  try {
    const keys = steps.map((step) => stateKey(step));
    const wrong = keys.findIndex((key) => typeof key !== 'string');
    if (wrong < 0)
      return { steps: steps.map((step, place) => ({ ...step, stateKey: keys[place] as string })) };
    return { steps, problem: new EnvironmentError(`stateKey: expected text, got ${described(keys[wrong])}`) };
  } catch (error) {
    const message = withPlace(`stateKey threw: ${messageOf(error)}`, error);
    return { steps, problem: new EnvironmentError(message, { cause: error }) };
  }
}

function verdictOf(episode: CapturedEpisode, end: AgentEnd, apiKey: string): Verdict {
  const { limit, answers, requests } = episode;
  const { samplerError, fault } = requests;
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
    if (fault === undefined)
      return failed(new EnvironmentError(`the agent threw: ${messageOf(cause)}`, { cause }));
    const message = `the agent threw: ${messageOf(cause)}, after a request failed: ${fault.message}`;
    return failed(new EnvironmentError(message, { cause: fault.error }));
  }
  const last = answers.at(-1);
  if (limit === 'tokens' && last === undefined) return tooLong;
  if (last === undefined) return failed(samplerError ?? unanswered(requests));
  if (last.completion.stopReason === 'length') return tooLong;
  return { status: 'completed', termination: { reason: 'environment' } };
}

const tooLong: Verdict = { status: 'truncated', termination: { reason: 'tokens' } };

/** Error of an agent that ended without an answer. */
function unanswered({ all, refusal, fault }: EpisodeRequests): EnvironmentError {
  if (refusal !== undefined) {
    const fate = refusal === fault ? 'failed' : 'were refused';
    const message = `expected the agent to get an answer, but its requests ${fate}: ${refusal.message}`;
    return new EnvironmentError(message, { cause: refusal.error });
  }
  const problem =
    all === 0
      ? 'and asked the policy nothing; give its client baseURL, apiKey and model'
      : `before ${all === 1 ? 'its request' : `any of its ${all} requests`} was answered; let it await the answers, and give its client a longer time limit`;
  return new EnvironmentError(`the agent ended ${problem}`);
}

/** Says that an agent went on without an answer. */
function goneOn({ samplerError, refusal }: EpisodeRequests): string[] {
  const problem = samplerError?.message ?? refusal?.message;
  return problem === undefined ? [] : [`an agent went on after a request got an error: ${problem}`];
}

function failed(error: RlpError): Verdict {
  return { status: 'failed', termination: { reason: 'error', detail: error.message }, error };
}
