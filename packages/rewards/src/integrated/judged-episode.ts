import type { VerificationReport, VerificationRequest, VerificationResult, Verifier } from '@rlp/core';
import { type RewardEpisode, readEpisode } from '../shared/episode.ts';
import { failure, reportsOf } from '../verification/read-report.ts';

/** What was found out about an episode. */
export interface EpisodeJudgement {
  /** `null`: unscorable. */
  readonly reward: number | null;
  /** In 0..1. Absent without verification, as what follows. */
  readonly verificationScore?: number | undefined;
  readonly verificationResult?: VerificationResult | undefined;
  readonly verificationMessage?: string | undefined;
  readonly verificationDetails?: Readonly<Record<string, unknown>> | undefined;
}

/** A copy of an episode with its judgement. */
export type JudgedEpisode<Episode extends RewardEpisode = RewardEpisode> = Episode & EpisodeJudgement;

/** A copy of `episode` with its judgement. */
export function judgedEpisode<Episode extends RewardEpisode>(
  episode: Episode,
  reward: number | null,
  report: VerificationReport | undefined,
): JudgedEpisode<Episode> {
  return {
    ...copyOf(episode),
    reward,
    ...(report && {
      verificationScore: report.score,
      verificationResult: report.result,
      verificationMessage: report.message,
      verificationDetails: report.details,
    }),
  };
}

/** A shallow copy. Nothing of an episode whose fields throw when they are read. */
function copyOf<Episode extends RewardEpisode>(episode: Episode): Episode {
  try {
    return { ...episode };
  } catch {
    return {} as Episode;
  }
}

/**
 * One report per episode, in order, `batchSize` of them to a request. Episodes that cannot be read or are not to
 * be judged fail without a request. Rejects as {@link reportsOf} does.
 */
export async function verifyEpisodes(
  verifier: Verifier,
  episodes: readonly RewardEpisode[],
  { batchSize, signal }: { readonly batchSize: number; readonly signal: AbortSignal | undefined },
): Promise<readonly VerificationReport[]> {
  const reports: VerificationReport[] = [];
  const readable: { readonly row: number; readonly request: VerificationRequest }[] = [];
  for (const [row, value] of episodes.entries()) {
    const request = readEpisode(value);
    if (request !== null && typeof request === 'object') readable.push({ row, request });
    else reports[row] = failure('episode', request ?? `it is ${value.status}, and not judged`);
  }
  for (let start = 0; start < readable.length; start += batchSize) {
    signal?.throwIfAborted();
    const part = readable.slice(start, start + batchSize);
    const requests = part.map(({ request }) => request);
    const given = await reportsOf(verifier.name, verifier, requests, { signal });
    for (const [k, { row }] of part.entries()) reports[row] = given[k]!;
  }
  return reports;
}
