import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Loss, RandomStream, type Weights } from '@rlp/core';
import { describeFullBackend } from '@rlp/core/testing';
import { writeSafetensors } from '@rlp/models';
import { createEngine, type Engine, programUrl, type RunningProgram } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FullWeights } from './full-weights.ts';
import { OnnxTrainingBackend } from './onnx-backend.ts';
import { optimizerSchema } from './optimizer/optimizer.ts';
import { scheduleSchema } from './optimizer/schedule.ts';
import type { TrainingProgramOptions } from './program-protocol.ts';
import { type BigramMethods, parameters, vocabularySize } from './testing/bigram.program.ts';

let engine: Engine;
let created = 0;
let program: RunningProgram<BigramMethods>;
beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 1 });
});
afterAll(() => engine.close());

async function create(): Promise<OnnxTrainingBackend> {
  const store = `policy-${created++}`;
  await engine.createStore({ name: store, parameters, slots: ['gradient', 'moment1', 'moment2'] });
  const random = RandomStream.named('bigram');
  const draw = (shape: readonly number[]) => {
    const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => random.normal());
    return { shape, data };
  };
  await engine.writeStore(store, new Map(parameters.map(({ name, shape }) => [name, draw(shape)])));
  const options: TrainingProgramOptions = {
    trainable: store,
    frozen: [],
    reference: `${store}/reference`,
    scratch: `${store}/scratch`,
    optimizer: optimizerSchema.parse({}),
    schedule: scheduleSchema.parse({ kind: 'constant' }),
    learningRate: 0.05,
    maxGradientNorm: Number.POSITIVE_INFINITY,
    merge: undefined,
  };
  const reference = { url: programUrl(import.meta.url, './testing/bigram.program') };
  program = await engine.start<BigramMethods>(reference, options);
  const save = (directory: string, weights: Weights) =>
    writeSafetensors(join(directory, 'model.safetensors'), weights);
  const weights = new FullWeights({ engine, program, store, parameters, save });
  return new OnnxTrainingBackend({
    program,
    weights,
    packing: { vocabularySize, contextLength: 64, tokensPerMicroBatch: 16 },
    shares: { engine, store },
    reference: 'initial',
  });
}

describeFullBackend('a bigram model on ONNX Runtime', {
  create,
  vocabularySize,
  checkpointDirectory: async () => join(await mkdtemp(join(tmpdir(), 'rlp-backend-')), 'checkpoint'),
});

it('builds one graph for a loss and one for scoring, whatever the shapes and temperatures', async () => {
  const backend = await create();
  const loss: Loss = {
    key: 'imitation',
    columns: [],
    compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
  };
  for (const [length, temperature] of [
    [2, 1],
    [9, 0.5],
    [30, 2],
  ] as const) {
    const tokens = Array.from({ length }, (_, t) => t % vocabularySize);
    const mask = tokens.map((_, t) => Math.min(t, 1));
    const sequence = { tokens, mask, weights: mask, columns: {}, temperature };
    const trained = await backend.forwardBackward({ sequences: [sequence, sequence] }, loss);
    const [scores] = await backend.logprobs([tokens], { temperature });
    for (const [t, logprob] of scores!.logprobs.entries()) {
      expect(trained.logprobs[0]![t]).toBeCloseTo(logprob, 5);
    }
  }
  expect(await program.call('built', undefined)).toBe(2);
  await backend.close();
});
