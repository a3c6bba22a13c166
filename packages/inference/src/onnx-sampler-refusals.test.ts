import { describe, expect, it } from 'vitest';

import { request, Samplers, scoreRequests } from './onnx-sampler.fixture.ts';

const samplers = new Samplers();

describe('createOnnxSampler, closed or aborted', () => {
  it('rejects after it has been closed', async () => {
    const backend = await samplers.start();
    await backend.close();
    await backend.close();
    for (const call of [
      () => backend.sample(request),
      () => backend.scoreTokens(scoreRequests),
      () => backend.scoreLogits(scoreRequests),
      () => backend.updateWeights({ kind: 'shared', version: 1, engine: samplers.engine, store: 'policy' }),
    ]) {
      await expect(call()).rejects.toThrow('createOnnxSampler: it has been closed; create another one');
    }
  });

  it('does nothing that was aborted before', async () => {
    const backend = await samplers.start();
    const signal = AbortSignal.abort(new Error('too late'));
    for (const call of [
      () => backend.sample({ ...request, signal }),
      () => backend.scoreTokens(scoreRequests, { signal }),
      () => backend.scoreLogits(scoreRequests, { signal }),
      () =>
        backend.updateWeights(
          { kind: 'shared', version: 1, engine: samplers.engine, store: 'policy' },
          signal,
        ),
    ]) {
      await expect(call()).rejects.toThrow('too late');
    }
    expect(backend.policyVersion).toBe(0);
  });
});
