import type { Sample, Trajectory } from '@rlp/core';
import { isRecord } from '../is-record.ts';
import type { RewardEpisode } from './episode.ts';

/** An episode as step lists: what was seen, what was done, and what the policy thought of it. */
export interface BufferEpisode {
  readonly obs: readonly unknown[];
  readonly act: readonly unknown[];
  readonly logprob?: readonly unknown[] | null | undefined;
  readonly value?: readonly unknown[] | null | undefined;
}

/** Collected episodes: trajectories, samples, or a buffer of step lists. */
export type RewardBuffer =
  | readonly (Trajectory | Sample)[]
  | { readonly storage: { readonly episodes: readonly BufferEpisode[] } };

/**
 * The episodes of a buffer, in order.
 *
 * A trajectory gives its task's prompt, its last response and its task's metadata (where that is an object); a sample the
 * same. A list of steps gives its first observation, its last action and `{ length, logprobs, values }`; empty ones give `''`.
 */
export function episodesFromBuffer(buffer: RewardBuffer): RewardEpisode[] {
  if ('storage' in buffer) return buffer.storage.episodes.map(fromSteps);
  return buffer.map((entry) => ('task' in entry ? fromTrajectory(entry) : fromSample(entry)));
}

function fromTrajectory({ task, response, status }: Trajectory): RewardEpisode {
  const { prompt, metadata } = task;
  return { prompt, response, status, ...(isRecord(metadata) && { metadata }) };
}

function fromSample({ prompt, response, status, metadata }: Sample): RewardEpisode {
  return { prompt, response, status, metadata };
}

function fromSteps({ obs, act, logprob, value }: BufferEpisode): RewardEpisode {
  return {
    // Checked like everything else when the episode is read.
    prompt: (obs[0] ?? '') as string,
    response: (act.at(-1) ?? '') as string,
    metadata: { length: obs.length, logprobs: logprob, values: value },
  };
}
