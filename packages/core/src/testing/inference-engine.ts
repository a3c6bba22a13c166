import { SamplerError } from '../errors.ts';
import type { WeightPublication } from '../publication.ts';
import type { InferenceEngine, Sampler } from '../sampler.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface InferenceEngineSubject {
  /** The engine under test. The subject closes it. */
  readonly create: () => (InferenceEngine & Sampler) | Promise<InferenceEngine & Sampler>;
  /** Weights it can take over, under the given version. */
  readonly publication: (version: number) => WeightPublication | Promise<WeightPublication>;
  /** A publication that it cannot take over, such as one of a missing file. Omit if there is none. */
  readonly impossible?: (version: number) => WeightPublication;
  /** A prompt it can complete. */
  readonly prompt: readonly number[];
}

/**
 * Contract of {@link InferenceEngine}. Run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeInferenceEngine(name: string, subject: InferenceEngineSubject): void {
  const request = { prompt: subject.prompt, count: 1, maxTokens: 2, seed: 'contract' };

  describe(`${name} is an InferenceEngine`, () => {
    it('resolves with the version now in force, which later completions carry', async () => {
      const engine = await subject.create();
      const version = engine.policyVersion + 3;
      expect(await engine.updateWeights(await subject.publication(version))).toBe(version);
      expect(engine.policyVersion).toBe(version);
      const [completion] = await engine.sample(request);
      expect(completion!.policyVersion).toBe(version);
    });

    it('says which forms it accepts, that of these weights among them', async () => {
      const engine = await subject.create();
      const { kind } = await subject.publication(engine.policyVersion + 1);
      expect(engine.accepts).toContain(kind);
    });

    it('rejects with the signal’s reason once aborted, and keeps the version', async () => {
      const engine = await subject.create();
      const before = engine.policyVersion;
      const publication = await subject.publication(before + 1);
      const signal = AbortSignal.abort(new Error('stopped by the test'));
      await expect(engine.updateWeights(publication, signal)).rejects.toThrow('stopped by the test');
      expect(engine.policyVersion).toBe(before);
    });

    const { impossible } = subject;
    it.skipIf(impossible === undefined)(
      'keeps the old weights when it cannot take over new ones',
      async () => {
        const engine = await subject.create();
        const before = engine.policyVersion;
        await expect(engine.updateWeights(impossible!(before + 1))).rejects.toThrow(SamplerError);
        expect(engine.policyVersion).toBe(before);
        expect(await engine.sample(request)).toHaveLength(1);
      },
    );
  });
}
