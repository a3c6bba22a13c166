import { type VerificationRequest, type Verifier, verificationReportSchema } from '../verifier.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface VerifierSubject {
  readonly create: () => Verifier;
  /** Texts to judge. A usual choice is one good and one bad. */
  readonly requests: readonly VerificationRequest[];
}

/**
 * Contract of {@link Verifier}. Run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeVerifier(name: string, { create, requests }: VerifierSubject): void {
  describe(`${name} is a Verifier`, () => {
    it('gives one valid report per request, in order', async () => {
      const reports = await create().verifyBatch(requests);
      expect(reports).toHaveLength(requests.length);
      for (const report of reports) expect(verificationReportSchema.parse(report)).toEqual(report);
      const backwards = await create().verifyBatch([...requests].reverse());
      expect([...backwards].reverse()).toEqual(reports);
    });

    it('judges each response on its own', async () => {
      const [together] = await create().verifyBatch(requests);
      const [alone] = await create().verifyBatch(requests.slice(0, 1));
      expect(alone).toEqual(together);
    });

    it('judges text that says nothing instead of throwing', async () => {
      const reports = await create().verifyBatch([{ prompt: '', response: '' }]);
      expect(reports).toHaveLength(1);
    });

    it('gives nothing for nothing', async () => {
      expect(await create().verifyBatch([])).toEqual([]);
    });

    it('rejects with the signal’s reason once aborted', async () => {
      const signal = AbortSignal.abort(new Error('stopped by the test'));
      await expect(create().verifyBatch(requests, { signal })).rejects.toThrow('stopped by the test');
    });
  });
}
