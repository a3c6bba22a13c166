import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { fillMask } from '../program/dropout-masks.ts';
import { inlineBackends, temporaryCheckpoint } from '../testing/inline-backends.ts';
import { gpt2, negativeLogLikelihood, sequences, tinyModel } from '../testing/tiny-model.ts';

const backends = inlineBackends();
const create = backends.create;

/** Two rows that are alike, and one that begins as they do. */
const alike = [sequences[0]!, sequences[0]!, { ...sequences[0]!, tokens: [1, 4, 2, 3, 5, 0, 2] }];

async function train(backend: Awaited<ReturnType<typeof create>>['backend'], updates: number) {
  for (let update = 0; update < updates; update++) {
    await backend.forwardBackward({ sequences: alike }, negativeLogLikelihood);
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
  }
}

describe('masks of dropout', () => {
  it.each([0.05, 0.3, 0.5, 0.9])('drop each element with probability %d, on its own', (rate) => {
    const mask = new Uint8Array(100_000);
    fillMask(mask, rate, RandomStream.named('mask', rate));
    const kept = mask.reduce((sum, bit) => sum + bit, 0) / mask.length;
    const both = mask.reduce((sum, bit, i) => sum + bit * (mask[i + 1] ?? 0), 0) / mask.length;
    const error = 4 * Math.sqrt((rate * (1 - rate)) / mask.length);
    expect(Math.abs(kept - (1 - rate))).toBeLessThan(error);
    expect(Math.abs(both - (1 - rate) ** 2)).toBeLessThan(2 * error);
  });

  it('begin alike, whatever their length', () => {
    const [short, long] = [new Uint8Array(50), new Uint8Array(500)];
    for (const mask of [short, long]) fillMask(mask, 0.2, RandomStream.named('prefix'));
    expect(long.subarray(0, 50)).toEqual(short);
  });
});

describe.each([
  ['llama', {}, {}],
  ['gpt2, recomputed, in 8 bits', gpt2, { base: 'int8' as const }],
])('a correction with dropout, %s', (name, change, options) => {
  const activations = name === 'llama' ? ('keep' as const) : ('recompute' as const);
  const made = (dropout: number, more = {}) =>
    create({ model: tinyModel(change), activations, lora: { rank: 2, dropout, ...options }, ...more });

  it('has the gradient without it as its mean', async () => {
    const [plain, dropped] = [await made(0), await made(0.3)];
    const copies = 400;
    await plain.backend.forwardBackward({ sequences }, negativeLogLikelihood);
    const many = Array.from({ length: copies }, () => sequences).flat();
    await dropped.backend.forwardBackward({ sequences: many }, negativeLogLikelihood);
    const [expected, sums] = await Promise.all(
      [plain, dropped].map(({ store }) => backends.engine.readStore(`${store}/adapter`, 'gradient')),
    );
    for (const [factor, { data }] of expected!) {
      const norm = Math.hypot(...data);
      const apart = Math.hypot(...sums!.get(factor)!.data.map((sum, i) => sum / copies - data[i]!));
      // B is 0, so only its gradient is not, and the masks change no other layer.
      if (factor.endsWith('lora_B.weight')) expect(apart / norm, factor).toBeLessThan(0.15);
      else expect(norm + apart).toBe(0);
    }
    await Promise.all([plain.backend.close(), dropped.backend.close()]);
  });

  it('does not depend on micro-batches, and has masks of its own for each row and call', async () => {
    const results = [];
    for (const tokensPerMicroBatch of [6, 4096]) {
      const { backend } = await made(0.3, { tokensPerMicroBatch });
      await train(backend, 1);
      const first = await backend.forwardBackward({ sequences: alike }, negativeLogLikelihood);
      const second = await backend.forwardBackward({ sequences: alike }, negativeLogLikelihood);
      results.push([first.logprobs, second.logprobs].flat());
      await backend.close();
    }
    const [small, large] = results;
    for (const [i, row] of small!.entries()) {
      for (const [t, logprob] of row.entries()) expect(logprob).toBeCloseTo(large![i]![t]!, 4);
    }
    expect(large![0]).not.toEqual(large![1]);
    expect(large![0]).not.toEqual(large![3]);
  });

  it('continues from a checkpoint bit for bit', async () => {
    const directory = await temporaryCheckpoint();
    const [whole, first, second] = [await made(0.3), await made(0.3), await made(0.3)];
    await train(whole.backend, 3);
    await train(first.backend, 1);
    await first.backend.saveCheckpoint(directory);
    await train(second.backend, 2);
    // What was accumulated and not applied is forgotten, with its masks.
    await second.backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await second.backend.loadCheckpoint(directory);
    await train(second.backend, 2);
    const [expected, continued] = await Promise.all(
      [whole, second].map(({ store }) => backends.engine.readStore(`${store}/adapter`)),
    );
    expect(new Map(continued)).toEqual(new Map(expected));
    await Promise.all([whole, first, second].map(({ backend }) => backend.close()));
  });

  it('is off in scores, in merged weights and in files, which name it', async () => {
    const directory = await temporaryCheckpoint();
    const dropped = await made(0.3);
    await train(dropped.backend, 2);
    await dropped.backend.saveCheckpoint(directory);
    const plain = await made(0);
    await plain.backend.loadCheckpoint(directory);
    const tokens = [sequences[0]!.tokens];
    const [own, other] = [await dropped.backend.logprobs(tokens), await plain.backend.logprobs(tokens)];
    expect(own).toEqual(other);
    expect(new Map(await dropped.backend.getWeights())).toEqual(new Map(await plain.backend.getWeights()));
    const config = JSON.parse(await readFile(join(directory, 'adapter_config.json'), 'utf8'));
    expect(config.lora_dropout).toBe(0.3);
    const lora = { adapter: directory, ...options };
    const continued = await create({ model: tinyModel(change), activations, lora });
    const again = await continued.backend.forwardBackward({ sequences: alike }, negativeLogLikelihood);
    expect(again.logprobs[0]).not.toEqual(again.logprobs[1]);
    await Promise.all([dropped, plain, continued].map(({ backend }) => backend.close()));
  });
});

it('wants a share below 1', async () => {
  await expect(create({ lora: { dropout: 1 } })).rejects.toThrow('lora.dropout');
  const both = { dropout: 0.1, variant: 'dora' as const };
  await expect(create({ lora: both })).rejects.toThrow("lora.dropout: is not combined with variant 'dora'");
});
