import { createEngine } from '@rlp/onnx/runtime';
import { expect, it } from 'vitest';
import { createOnnxBackend } from '../create-backend.ts';
import { negativeLogLikelihood, tinyModel } from '../testing/tiny-model.ts';

// A single micro-batch of a large model has a graph whose gradients are added to nothing.
it.each([
  ['small', 8],
  ['large', 1024],
])(
  'gradients of a %s model add up over calls with one and with several micro-batches',
  async (_, hidden_size) => {
    const model = tinyModel({
      hidden_size,
      intermediate_size: 2 * hidden_size,
      num_hidden_layers: 1,
      vocab_size: 300,
    });
    const engine = await createEngine({ thread: 'inline', threads: 1 });
    const backend = await createOnnxBackend({
      engine,
      model,
      learningRate: 0,
      tokensPerMicroBatch: 4,
      reference: 'none',
    });
    const [first, ...others] = [1, 2, 3].map((seed) => {
      const tokens = Array.from({ length: 5 }, (_, t) => (seed * 97 + t * 31) % 300);
      return { tokens, mask: [0, 1, 1, 1, 1], weights: [0, 1, 1, 1, 1], columns: {} };
    });
    const normOf = async (...batches: (typeof others)[]) => {
      for (const sequences of batches) await backend.forwardBackward({ sequences }, negativeLogLikelihood);
      return (await backend.optimStep()).gradientNorm;
    };
    const alone = await normOf([first!]);
    const inTurn = await normOf([first!], others);
    expect(inTurn).toBeCloseTo(await normOf([first!, ...others]), 5);
    expect(inTurn).toBeCloseTo(await normOf(others, [first!]), 5);
    expect(await normOf([first!])).toBe(alone);
    await engine.close();
  },
);
