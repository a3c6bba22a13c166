import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { InferenceBackend } from './backend.ts';
import { createOnnxSampler } from './onnx-sampler.ts';
import type { OnnxSamplerOptions } from './onnx-sampler-options.ts';
import { tinyModel, tinyTokenizer } from './testing/tiny-models.ts';

const prompt = tinyTokenizer.encode('once');
const request = { prompt, count: 1, maxTokens: 12, seed: 'test' };

let engine: Engine;
let folder: string;
const open: InferenceBackend[] = [];

beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 1 });
  folder = await mkdtemp(join(tmpdir(), 'rlp-inference-'));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((backend) => backend.close()));
});
afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

async function start(options: Partial<OnnxSamplerOptions> = {}): Promise<InferenceBackend> {
  const backend = await createOnnxSampler({ engine, model: tinyModel(), ...options });
  open.push(backend);
  return backend;
}

const scoreRequests = [
  { prompt, completion: tinyTokenizer.encode('upon', { specialTokens: 'none' }) },
  { prompt: prompt.slice(0, 2), completion: tinyTokenizer.encode('a time.', { specialTokens: 'none' }) },
] as const;

describe('createOnnxSampler, closed or aborted', () => {
  it('rejects after it has been closed', async () => {
    const backend = await start();
    await backend.close();
    await backend.close();
    for (const call of [
      () => backend.sample(request),
      () => backend.scoreTokens(scoreRequests),
      () => backend.scoreLogits(scoreRequests),
      () => backend.updateWeights({ kind: 'shared', version: 1, engine, store: 'policy' }),
    ]) {
      await expect(call()).rejects.toThrow('createOnnxSampler: it has been closed; create another one');
    }
  });

  it('does nothing that was aborted before', async () => {
    const backend = await start();
    const signal = AbortSignal.abort(new Error('too late'));
    for (const call of [
      () => backend.sample({ ...request, signal }),
      () => backend.scoreTokens(scoreRequests, { signal }),
      () => backend.scoreLogits(scoreRequests, { signal }),
      () => backend.updateWeights({ kind: 'shared', version: 1, engine, store: 'policy' }, signal),
    ]) {
      await expect(call()).rejects.toThrow('too late');
    }
    expect(backend.policyVersion).toBe(0);
  });
});
