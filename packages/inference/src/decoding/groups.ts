import type { StopReason, TokenId } from '@rlp/core';
import type { Distribution, LogitsNeed } from './cached-decoder.ts';
import { reportingTemperature, type Sequence, type SequenceRequest } from './sequence.ts';

/** A finished completion. */
export interface GeneratedSequence {
  readonly tokens: readonly TokenId[];
  readonly logprobs: readonly number[];
  readonly stopReason: StopReason;
}

/** All completions of one request. */
export interface GeneratedGroup {
  /** By member. */
  readonly sequences: readonly GeneratedSequence[];
  /** Version of the weights that the first of them began with. */
  readonly policyVersion: number;
}

/** Follows a request's progress. */
export interface GenerationObserver {
  readonly signal: AbortSignal;
  /** Called with each token of the request's completions. */
  readonly onToken?: ((event: { member: number; token: TokenId; logprob: number }) => void) | undefined;
}

/** A request and its progress. */
export interface Group {
  readonly request: SequenceRequest;
  readonly observer: GenerationObserver;
  readonly members: readonly Sequence[];
  /** Members that have had a row so far. */
  started: number;
  /** Members that neither ended nor were aborted. */
  unfinished: number;
  /** Distribution of the first token, kept while members wait for it. */
  first?: Distribution | undefined;
  policyVersion: number | undefined;
  settled: boolean;
  resolve(group: GeneratedGroup): void;
  reject(error: unknown): void;
}

/** One sequence of a request. */
export interface Member {
  readonly group: Group;
  readonly sequence: Sequence;
}

/** One sequence in the cache. Its index is its row. */
export interface Row extends Member {
  /** Number of the weights that its keys and values began with. */
  readonly weights: number;
}

/** A prefill that members share: equal prompts at equal temperatures. */
export interface SharedPrefill {
  readonly prompt: readonly TokenId[];
  readonly temperature: number;
  readonly members: Member[];
}

/** Whether a request can share a prefill. */
export function isShared({ prompt, temperature }: SharedPrefill, request: SequenceRequest): boolean {
  return (
    temperature === reportingTemperature(request.temperature) &&
    prompt.length === request.prompt.length &&
    prompt.every((token, index) => token === request.prompt[index])
  );
}

/** Keeps the first token's distribution for members that have no row yet. */
export function keepForLateMembers(
  members: readonly Member[],
  { probabilities, logits }: Distribution,
): void {
  for (const group of new Set(members.map((member) => member.group))) {
    if (group.started === group.members.length) continue;
    group.first = { probabilities: probabilities.slice(), logits: logits?.slice() };
  }
}

/** Whether any of these members needs logits. */
export function logitsNeed(members: readonly Member[]): LogitsNeed {
  return members.some(({ sequence }) => sequence.request.repetitionPenalty > 1) ? 'needed' : 'unneeded';
}
