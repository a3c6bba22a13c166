import {
  MissingPeerError,
  messageOf,
  type VerificationReport,
  type VerificationRequest,
  type Verifier,
} from '@rlp/core';

/** The report of a text that could not be judged. */
export function failure(name: string, problem: string): VerificationReport {
  return { result: 'fail', score: 0, details: { problem }, message: `${name}: ${problem}` };
}

/** A copy of a report, or what is wrong with it. A foreign verifier may give anything, getters that throw included. */
export function readReport(value: unknown): VerificationReport | { readonly problem: string } {
  const problem = `gave no valid report: ${excerptOf(value)}`;
  if (typeof value !== 'object' || value === null) return { problem };
  try {
    const { result, score, details, message } = value as Partial<VerificationReport>;
    const isVerdict = result === 'pass' || result === 'warning' || result === 'fail';
    const isScore = typeof score === 'number' && score >= 0 && score <= 1;
    if (!isVerdict || !isScore || typeof details !== 'object' || details === null) return { problem };
    return typeof message === 'string' ? { result, score, details, message } : { problem };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function excerptOf(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 200);
  } catch {
    return typeof value;
  }
}

/**
 * One report per request, in order. If the verifier rejects or gives another number of reports, it is asked about each request alone:
 * only the response that breaks it fails, with the reason. An invalid report fails its response. Rejects once aborted, and
 * with a `MissingPeerError`.
 */
export async function reportsOf(
  name: string,
  verifier: Verifier,
  requests: readonly VerificationRequest[],
  { signal }: { readonly signal: AbortSignal | undefined },
): Promise<readonly VerificationReport[]> {
  try {
    const reports: unknown = await verifier.verifyBatch(requests, signal === undefined ? {} : { signal });
    if (!Array.isArray(reports) || reports.length !== requests.length) {
      const came = Array.isArray(reports) ? reports.length : typeof reports;
      throw new RangeError(`expected ${requests.length} reports, got ${came}`);
    }
    return reports.map((given) => {
      const report = readReport(given);
      return 'problem' in report ? failure(name, report.problem) : report;
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof MissingPeerError) throw error;
    if (requests.length <= 1) return requests.map(() => failure(name, messageOf(error)));
    const alone: VerificationReport[] = [];
    for (const request of requests) alone.push(...(await reportsOf(name, verifier, [request], { signal })));
    return alone;
  }
}
