import { fileURLToPath } from 'node:url';
import { loadModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { expect, it } from 'vitest';
import { openPolicy } from './policy.ts';

const folder = fileURLToPath(new URL('../../../../examples/models/stories260k', import.meta.url));

it('samples 64 sequences at a time, also if the run says something else of the sampler', async () => {
  const engine = await createEngine({ thread: 'inline', threads: 1 });
  const bytesOf = async (sampler: Parameters<typeof openPolicy>[0]['sampler']) => {
    const model = await loadModel(folder);
    const policy = await openPolicy({ engine, model, sampler, backend: [], learningRate: 0, updates: 1 });
    const bytes = policy.inference.cacheBytes(32);
    await policy.close();
    return bytes;
  };
  const usual = await bytesOf(undefined);
  expect(await bytesOf({ contextLength: 32 })).toBe(usual);
  expect(await bytesOf({ maxSequences: 16 })).toBe(usual / 4);
  await engine.close();
});
