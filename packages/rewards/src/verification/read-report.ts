import { messageOf, type VerificationReport } from '@rlp/core';

/** The report of a text that could not be judged. */
export function failure(name: string, problem: string): VerificationReport {
  return { result: 'fail', score: 0, details: { problem }, message: `${name}: ${problem}` };
}

/** A copy of a report, or what is wrong with it: a foreign verifier may give anything, getters that throw included. */
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
