import { messageOf, type VerificationReport, type VerificationRequest, type Verifier } from '@rlp/core';
import { type RewardEpisode, readEpisode } from '../shared/episode.ts';
import { readReport } from '../verification/read-report.ts';

interface VerifyOptions {
  readonly batchSize: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * One report per episode, in order, `batchSize` of them to a request. Episodes that cannot be read or are not to be judged
 * fail without a request, and so does one without a valid report. A request that rejects is repeated one by one:
 * only the episode that breaks the verifier fails, with the reason. Rejects only once aborted.
 */
export async function verifyEpisodes(
  verifier: Verifier,
  episodes: readonly RewardEpisode[],
  { batchSize, signal }: VerifyOptions,
): Promise<readonly VerificationReport[]> {
  const reports = new Array<VerificationReport>(episodes.length);
  const readable: { readonly row: number; readonly request: VerificationRequest }[] = [];
  for (const [row, value] of episodes.entries()) {
    const episode = readEpisode(value);
    if (episode === null) reports[row] = failed(`the episode is ${value.status}, and not judged`);
    else if (typeof episode === 'string') reports[row] = failed(episode);
    else readable.push({ row, request: episode });
  }
  const ask = async (part: typeof readable): Promise<void> => {
    try {
      const requests = part.map(({ request }) => request);
      const answers = await verifier.verifyBatch(requests, signal === undefined ? {} : { signal });
      if (answers.length !== part.length) {
        throw new RangeError(`expected ${part.length} reports, got ${answers.length}`);
      }
      for (const [k, { row }] of part.entries()) {
        const report = readReport(answers[k]);
        reports[row] = 'problem' in report ? failed(`${verifier.name}: ${report.problem}`) : report;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (part.length > 1) for (const one of part) await ask([one]);
      else reports[part[0]!.row] = failed(`${verifier.name}: ${messageOf(error)}`);
    }
  };
  for (let start = 0; start < readable.length; start += batchSize) {
    signal?.throwIfAborted();
    await ask(readable.slice(start, start + batchSize));
  }
  return reports;
}

function failed(reason: string): VerificationReport {
  return {
    result: 'fail',
    score: 0,
    details: { verified: false },
    message: `could not be verified: ${reason}`,
  };
}
