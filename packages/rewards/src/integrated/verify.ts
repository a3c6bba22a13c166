import type { VerificationReport, VerificationRequest, Verifier } from '@rlp/core';
import { type RewardEpisode, readEpisode } from '../shared/episode.ts';
import { failure, reportsOf } from '../verification/read-report.ts';

/**
 * One report per episode, in order, `batchSize` of them to a request. See {@link reportsOf}. Episodes that cannot be read or are not to
 * be judged fail without a request. Rejects only once aborted.
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
