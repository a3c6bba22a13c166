import { createEngine } from '@rlp/onnx/runtime';
import { describe, expect, it, vi } from 'vitest';
import { createOnnxSampler } from './onnx-sampler.ts';
import { tinyModel, tinyTokenizer } from './testing/tiny-models.ts';

const onLinux = `${process.platform}-${process.arch}` === 'linux-x64';

// The memory of the host stands for that of a card.
describe.skipIf(!onLinux)('a model on a device', () => {
  it.each(['llama', 'llama, small heads', 'mistral', 'gpt2', 'gemma3'] as const)(
    'samples what a tiny %s samples on the processor, guesses of several tokens included',
    async (kind) => {
      vi.stubEnv('RLP_ONNX_CUDA', 'host');
      const device = await createEngine({ thread: 'inline', threads: 1, executionProvider: 'cuda' });
      vi.unstubAllEnvs();
      const processor = await createEngine({ thread: 'inline', threads: 1 });
      const model = tinyModel(kind);
      const drawn = await Promise.all(
        [device, processor].map(async (engine) => {
          const options = { engine, model, contextLength: 48, maxSequences: 2, promptLookup: 4 };
          const sampler = await createOnnxSampler(options);
          const repeats = tinyTokenizer.encode('the fox and the fox and the');
          const greedy = {
            prompt: repeats,
            count: 1,
            maxTokens: 10,
            temperature: 0,
            seed: 's',
            stopTokens: [],
          };
          const plain = { prompt: [1, 4, 4], count: 3, maxTokens: 6, seed: 'device' };
          const completions = [...(await sampler.sample(greedy)), ...(await sampler.sample(plain))];
          await sampler.close();
          await engine.close();
          return completions;
        }),
      );
      const [own, expected] = drawn;
      expect(own!.map(({ tokens }) => tokens)).toEqual(expected!.map(({ tokens }) => tokens));
      for (const [index, { behaviorLogprobs }] of own!.entries()) {
        expect(behaviorLogprobs).toEqual(
          expected![index]!.behaviorLogprobs.map((logprob) => expect.closeTo(logprob, 4)),
        );
      }
    },
  );
});
