import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineError, type Loss, RandomStream, type Weights } from '@rlp/core';
import { describeFullBackend } from '@rlp/core/testing';
import { writeSafetensors } from '@rlp/models/safetensors';
import { createEngine, type Engine, programUrl, type RunningProgram } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OnnxTrainingBackend } from './onnx-backend.ts';
import { optimizerSchema } from './optimizer/options.ts';
import { scheduleSchema } from './optimizer/schedule.ts';
import type { TrainingProgramOptions } from './program-protocol.ts';
import { type BigramMethods, parameters, vocabularySize } from './testing/bigram.program.ts';
import { momentSpecs } from './tfjs/training-state.ts';
import { FullWeights } from './weights/full-weights.ts';

const packing = {
  vocabularySize,
  contextLength: 64,
  tokensPerMicroBatch: 16,
  pair: 0,
  scores: 0,
  microBatch: 128,
  attention: 'whole',
} as const;

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
    parameters: parameters.map((parameter) => ({ ...parameter, role: 'other' })),
    optimizerState: `${store}/optimizer`,
    point: 'point',
    optimizer: optimizerSchema.parse({}),
    schedule: scheduleSchema.parse({ kind: 'constant' }),
    learningRate: 0.05,
    maxGradientNorm: Number.POSITIVE_INFINITY,
    precision: 'float32',
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
    optimizer: { kind: 'adamw', state: momentSpecs(parameters) },
    packing,
    shares: { engine, store },
    reference: 'initial',
    forecastMemory: () => undefined,
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

it('sends a graph again after a request that failed before it was compiled', async () => {
  await (await create()).close();
  const sent: (string | undefined)[] = [];
  let failures = 1;
  const answer = {
    loss: 0,
    metricSums: {},
    scores: { logprobs: [new Float32Array(2)] },
  };
  const failing = {
    call: async (_: string, request: { readonly compile?: { readonly kind: string } }) => {
      sent.push(request.compile?.kind);
      if (failures-- > 0) throw new EngineError('the message was lost');
      return answer;
    },
    stop: async () => undefined,
  } as unknown as RunningProgram<BigramMethods>;
  const backend = new OnnxTrainingBackend({
    program: failing,
    weights: new FullWeights({
      engine,
      program: failing,
      store: 'none',
      parameters,
      save: async () => undefined,
    }),
    optimizer: { kind: 'adamw', state: [] },
    packing,
    shares: { engine, store: 'none' },
    forecastMemory: () => undefined,
    reference: 'initial',
  });
  const loss: Loss = {
    key: 'l',
    columns: [],
    compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
  };
  const batch = { sequences: [{ tokens: [0, 1], mask: [0, 1], weights: [0, 1], columns: {} }] };
  await expect(backend.forwardBackward(batch, loss)).rejects.toThrow('the message was lost');
  await backend.forwardBackward(batch, loss);
  await backend.forwardBackward(batch, loss);
  expect(sent).toEqual(['training', 'training', undefined]);
});
