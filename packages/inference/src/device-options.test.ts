import { createEngine } from '@rlp/onnx/runtime';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createOnnxSampler } from './onnx-sampler.ts';
import { tinyModel } from './testing/tiny-models.ts';

const onLinux = `${process.platform}-${process.arch}` === 'linux-x64';
const model = tinyModel();

it('half precision on the processor is refused', async () => {
  const engine = await createEngine({ thread: 'inline', threads: 1 });
  await expect(createOnnxSampler({ engine, model, weights: 'float16' })).rejects.toThrow(
    "weights 'float16' needs the provider cuda or webgpu, got cpu; use weights 'shared'",
  );
  await engine.close();
});

// The memory of the host stands for that of a card.
describe.skipIf(!onLinux)('on a device', async () => {
  vi.stubEnv('RLP_ONNX_CUDA', 'host');
  const engine = onLinux
    ? await createEngine({ thread: 'inline', threads: 1, executionProvider: 'cuda' })
    : undefined!;
  vi.unstubAllEnvs();
  afterAll(() => engine?.close());

  it.each([
    [{ prefixCacheBytes: 1024 }, 'prefixCacheBytes needs the provider cpu, got cuda; omit it'],
    [{ weights: 'int8' }, "weights 'int8' needs operators 'fused' on the provider cpu, got 'fused' on cuda"],
    [{ weights: 'packed' }, 'is on a device, where weights cannot be packed'],
  ] as const)('%o is refused', async (options, message) => {
    await expect(createOnnxSampler({ engine, model, store: 'refused', ...options })).rejects.toThrow(message);
  });

  it('filters and penalties draw what they draw on the processor', async () => {
    const request = { prompt: [1, 2, 3], count: 3, maxTokens: 8, seed: 'filters' };
    const processor = await createEngine({ thread: 'inline', threads: 1 });
    const [own, other] = await Promise.all(
      [engine, processor].map((each) => createOnnxSampler({ engine: each, model, store: 'filtered' })),
    );
    for (const filters of [{ topP: 0.8 }, { topK: 3, repetitionPenalty: 1.5 }, { minP: 0.05 }]) {
      const [drawn, expected] = await Promise.all(
        [own!, other!].map((backend) => backend.sample({ ...request, ...filters })),
      );
      expect(drawn!.map(({ tokens }) => tokens)).toEqual(expected!.map(({ tokens }) => tokens));
      const logprobs = expected!.map(({ behaviorLogprobs }) =>
        behaviorLogprobs.map((x) => expect.closeTo(x, 4)),
      );
      expect(drawn!.map(({ behaviorLogprobs }) => behaviorLogprobs)).toEqual(logprobs);
    }
    await own!.close();
    await other!.close();
    await processor.close();
  });

  it('half precision samples nearly what float32 samples, and takes over published weights', async () => {
    const exact = await createOnnxSampler({ engine, model });
    const half = await createOnnxSampler({ engine, model, weights: 'float16', maxSequences: 2 });
    const gap = async () => {
      const completions = await half.sample({ prompt: [1, 2, 3], count: 3, maxTokens: 8, seed: 'half' });
      const requests = completions.map(({ tokens }) => ({ prompt: [1, 2, 3], completion: tokens }));
      const scores = await exact.scoreTokens(requests);
      return completions
        .flatMap(({ behaviorLogprobs }, index) =>
          behaviorLogprobs.map((logprob, at) => Math.abs(logprob - scores[index]!.logprobs[at]!)),
        )
        .reduce((most, each) => Math.max(most, each), 0);
    };
    const before = await gap();
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(0.02);
    const other = tinyModel('llama', 'another');
    await engine.writeStore('policy', other.weights);
    expect(await gap()).toBeGreaterThan(0.05);
    await half.updateWeights({ kind: 'shared', version: 1, engine, store: 'policy' });
    expect(await gap()).toBeLessThan(0.02);
    await half.close();
    await exact.close();
  });
});
