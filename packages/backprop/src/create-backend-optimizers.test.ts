import { join } from 'node:path';
import { readSafetensors } from '@rlp/models/safetensors';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { OptimizerOptions } from './optimizer/options.ts';
import { KernelOptimizer } from './program/kernel-optimizer.ts';
import { inlineBackends, temporaryCheckpoint } from './testing/inline-backends.ts';
import { negativeLogLikelihood, sequences, tinyModel } from './testing/tiny-model.ts';

const backends = inlineBackends();

const optimizers: readonly (readonly [string, OptimizerOptions, number])[] = [
  ['adamw', {}, 0.01],
  ['adamw in 8 bits', { kind: 'adamw-8bit' }, 0.01],
  ['schedule-free', { kind: 'schedule-free' }, 0.02],
  ['lion', { kind: 'lion', weightDecay: 0.1 }, 0.003],
  ['sgd', { kind: 'sgd' }, 0.3],
  ['sgd with momentum', { kind: 'sgd', momentum: 0.5, momentumForm: 'nesterov' }, 0.1],
  ['adafactor', { kind: 'adafactor' }, 0.01],
  ['muon', { kind: 'muon', weightDecay: 0.1 }, 0.01],
];

async function lossesOf(backend: Awaited<ReturnType<typeof backends.create>>['backend'], updates: number) {
  const losses: number[] = [];
  for (let made = 0; made < updates; made++) {
    losses.push((await backend.forwardBackward({ sequences }, negativeLogLikelihood)).loss);
    await backend.optimStep();
  }
  return losses;
}

/** Every night both ways for each optimizer, by day in turn. */
const ways = [
  ['every weight', {}],
  ['a low-rank correction', { lora: { rank: 2 } }],
] as const;

describe.each(optimizers)('training by %s', (name, optimizer, learningRate) => {
  const turn = optimizers.findIndex(([other]) => other === name) % 2;
  it.each(process.env.RLP_SLOW_TESTS ? ways : [ways[turn]!])(
    'lowers the loss of %s, and goes on from a checkpoint bit for bit',
    async (__, what) => {
      const options = { optimizer, learningRate, valueHead: 'linear', ...what } as const;
      const [first, second] = [await backends.create(options), await backends.create(options)];
      const losses = await lossesOf(first.backend, 8);
      expect(losses.at(-1)).toBeLessThan(losses[0]!);
      const directory = await temporaryCheckpoint();
      await first.backend.saveCheckpoint(directory);
      await second.backend.loadCheckpoint(directory);
      expect(await lossesOf(second.backend, 3)).toEqual(await lossesOf(first.backend, 3));
      const [weights, resumed] = [await first.backend.getWeights(), await second.backend.getWeights()];
      for (const [name, { data }] of weights) expect(resumed.get(name)!.data, name).toEqual(data);
    },
  );
});

it('lets moments fade to 0 without gradients', async () => {
  const { backend, store } = await backends.create({ optimizer: { beta1: 0.6, beta2: 0.6 } });
  const largest = async () => {
    const moments = await Promise.all(
      ['moment1', 'moment2'].map((slot) => backends.engine.readStore(store, slot)),
    );
    return moments.map((tensors) =>
      Math.max(...[...tensors.values()].flatMap(({ data }) => Array.from(data, Math.abs))),
    );
  };
  await backend.forwardBackward({ sequences }, negativeLogLikelihood);
  for (let update = 1; update <= 128; update++) await backend.optimStep();
  const faded = await largest();
  expect(Math.min(...faded)).toBeGreaterThan(0);
  expect(Math.max(...faded)).toBeLessThan(1e-26);
  for (let update = 1; update <= 192; update++) await backend.optimStep();
  expect(await largest()).toEqual([0, 0]);
});

it('moments in 8 bits of large parameters go on from a checkpoint, and train as float32 does', async () => {
  const model = tinyModel({ hidden_size: 64, intermediate_size: 80, num_hidden_layers: 1 });
  const options = { model, optimizer: { kind: 'adamw-8bit' }, learningRate: 0.002 } as const;
  const [first, second] = [await backends.create(options), await backends.create(options)];
  const losses = await lossesOf(first.backend, 8);
  const whole = await lossesOf((await backends.create({ ...options, optimizer: {} })).backend, 8);
  expect(losses.at(-1)! / whole.at(-1)!).toBeCloseTo(1, 1);
  expect(losses.at(-1)).toBeLessThan(losses[0]! / 2);
  const directory = await temporaryCheckpoint();
  await first.backend.saveCheckpoint(directory);
  const saved = await readSafetensors(join(directory, 'optimizer.safetensors'));
  const numbers = [...saved.values()].reduce((sum, { data }) => sum + data.length, 0);
  const weights = [...model.weights.values()].reduce((sum, { data }) => sum + data.length, 0);
  expect(numbers).toBeLessThan(weights);
  await second.backend.loadCheckpoint(directory);
  expect(await lossesOf(second.backend, 3)).toEqual(await lossesOf(first.backend, 3));
});

it('the policy of schedule-free is the average, and gradients are taken near it', async () => {
  const options = {
    optimizer: { kind: 'schedule-free' },
    learningRate: 0.05,
    maxGradientNorm: 'off',
  } as const;
  const { backend } = await backends.create(options);
  const fresh = await backends.create(options);
  const lossOfPolicy = async () => {
    const scores = await backend.logprobs(sequences.map(({ tokens }) => tokens));
    return sequences.reduce(
      (sum, { mask, weights }, row) =>
        sum -
        Array.from(mask).reduce(
          (part, on, t) => part + (on ? weights[t]! * scores[row]!.logprobs[t]! : 0),
          0,
        ),
      0,
    );
  };
  const before = await lossOfPolicy();
  expect((await backend.forwardBackward({ sequences }, negativeLogLikelihood)).loss).toBeCloseTo(before, 5);
  await backend.optimStep();
  await lossesOf(backend, 5);
  const trained = (await backend.forwardBackward({ sequences }, negativeLogLikelihood)).loss;
  const policy = await lossOfPolicy();
  expect(policy).toBeLessThan(before);
  expect(Math.abs(policy - trained)).toBeGreaterThan(1e-3);
  await fresh.backend.loadWeights(await backend.getWeights());
  expect((await fresh.backend.forwardBackward({ sequences }, negativeLogLikelihood)).loss).toBeCloseTo(
    policy,
    5,
  );
});

describe('a checkpoint of another optimizer', () => {
  it('is refused by name, and loaded if the optimizer starts anew', async () => {
    const lion = await backends.create({ optimizer: { kind: 'lion' } });
    await lossesOf(lion.backend, 1);
    const directory = await temporaryCheckpoint();
    await lion.backend.saveCheckpoint(directory);
    const { backend } = await backends.create();
    await expect(backend.loadCheckpoint(directory)).rejects.toThrow(
      "was trained by the optimizer 'lion', and this backend's is 'adamw'; create it with optimizer: { kind: 'lion' }",
    );
    await backend.loadCheckpoint(directory, { optimizer: 'fresh' });
    const [own, loaded] = [await lion.backend.getWeights(), await backend.getWeights()];
    for (const [name, { data }] of own) expect(loaded.get(name)!.data, name).toEqual(data);
  });
});

describe('optimStep', () => {
  it('leaves no gradient behind when it fails', async () => {
    const { backend } = await backends.create();
    const failing = vi
      .spyOn(KernelOptimizer.prototype, 'update')
      .mockRejectedValueOnce(new Error('no memory'));
    onTestFinished(() => failing.mockRestore());
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await expect(backend.optimStep()).rejects.toThrow('no memory');
    expect((await backend.optimStep()).gradientNorm).toBe(0);
  });

  it('refuses an optimizer that cannot use the state', async () => {
    const { backend } = await backends.create({ optimizer: { kind: 'lion' } });
    await expect(backend.optimStep({ optimizer: {} })).rejects.toThrow(
      "expected an optimizer of kind 'lion', as the backend was created with, got 'adamw'",
    );
  });
});
