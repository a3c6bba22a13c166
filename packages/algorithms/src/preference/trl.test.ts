import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createOnnxBackend } from '@rlp/backprop';
import type { FullBackend, Metrics, Weights } from '@rlp/core';
import { loadModel, parseModelConfig } from '@rlp/models';
import { parameterSpecs } from '@rlp/models/decoder';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PreferenceOptions } from './options.ts';
import type { JudgedPair, LabelledSequence } from './preferences.ts';
import { type RewardModelOptions, runRewardModelTraining } from './reward-model.ts';
import { runPreferenceTraining } from './run-preference.ts';

/** What `lab/trl-preferences.ts --record` wrote: TRL's own numbers in float64, on two layers of the repository's model. */
interface Recorded {
  readonly job: {
    readonly learningRate: number;
    readonly undesirable: number;
    readonly head: readonly number[];
    readonly pairs: readonly Readonly<Record<'prompt' | 'chosen' | 'rejected', readonly number[]>>[];
  };
  readonly cases: Readonly<
    Record<
      string,
      {
        readonly updates: readonly {
          readonly loss: number;
          readonly norm: number;
          readonly logs: Readonly<Record<string, number>>;
        }[];
        readonly weights: readonly (readonly [name: string, place: number, value: number])[];
      }
    >
  >;
}

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const recorded = JSON.parse(
  readFileSync(path('../../fixtures/testdata/trl-preferences.json'), 'utf8'),
) as Recorded;
const { job } = recorded;

const judged = (prompt: readonly number[], completion: readonly number[]) => ({
  tokens: [...prompt, ...completion],
  mask: Uint8Array.from([...prompt.map(() => 0), ...completion.map(() => 1)]),
});
const margins = [0, 0.5, 1, 0, 0.25, 2, 0.1, 0];
const pairs = job.pairs.map(
  ({ prompt, chosen, rejected }): JudgedPair => ({
    chosen: judged(prompt, chosen),
    rejected: judged(prompt, rejected),
  }),
);
const examples: LabelledSequence[] = [
  ...pairs.map(({ chosen }) => ({ sequence: chosen, label: 'desirable' as const })),
  ...pairs
    .slice(0, job.undesirable)
    .map(({ rejected }) => ({ sequence: rejected, label: 'undesirable' as const })),
];

/** The model without its later layers: graphs of two compile sooner, and TRL computed with two. */
async function firstLayers(folder: string, layers: number) {
  const model = await loadModel(folder);
  const config = parseModelConfig({ ...model.config.source, num_hidden_layers: layers });
  const names = parameterSpecs(config).map(({ name }) => name);
  return { ...model, config, weights: new Map(names.map((name) => [name, model.weights.get(name)!])) };
}

const folder = mkdtempSync(join(tmpdir(), 'rlp-preferences-'));
let engine: Engine;
let backend: FullBackend;
let start: Weights;
beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 1 });
  const model = await firstLayers(path('../../../../examples/models/stories260k'), 2);
  const valueHead = { shape: [1, job.head.length], data: Float32Array.from(job.head) };
  // Small micro-batches separate the rows of a pair.
  const options = { learningRate: job.learningRate, valueHead, tokensPerMicroBatch: 256 };
  backend = await createOnnxBackend({ engine, model, ...options });
  await backend.saveCheckpoint(join(folder, 'start'));
  start = await backend.getWeights();
});
/** Every case starts with the first weights and a fresh optimizer. */
beforeEach(() => backend.loadCheckpoint(join(folder, 'start')));
afterAll(async () => {
  await backend.close();
  await engine.close();
  rmSync(folder, { recursive: true });
});

const length = { updates: 3, pairsPerBatch: 64 };

async function compare(
  name: string,
  run: AsyncIterable<{ readonly metrics: Metrics }>,
  lossName: string,
): Promise<Metrics[]> {
  const { updates } = recorded.cases[name]!;
  const reports: Metrics[] = [];
  for await (const { metrics } of run) reports.push(metrics);
  expect(reports).toHaveLength(updates.length);
  for (const [index, { loss, norm }] of updates.entries()) {
    expect(Math.abs(reports[index]![lossName]! - loss)).toBeLessThan(2e-4 * Math.max(1e-3, Math.abs(loss)));
    expect(Math.abs(reports[index]!['gradient/norm']! - norm)).toBeLessThanOrEqual(5e-4 * norm);
  }
  return reports;
}

const named = (name: string, loss: PreferenceOptions['loss'], rest: PreferenceOptions = {}) =>
  [name, { loss, ...rest }] as const;

describe('runPreferenceTraining', () => {
  it.each([
    named('sigmoid', 'sigmoid'),
    named('hinge', 'hinge'),
    named('ipo', 'ipo'),
    named('exo-pair', 'exo-pair'),
    named('nca-pair', 'nca-pair'),
    named('robust', { kind: 'robust', labelSmoothing: 0.1 }),
    named('bco-pair', 'bco-pair'),
    named('sppo-hard', 'sppo-hard'),
    named('aot', { kind: 'aot', labelSmoothing: 0.1 }),
    named('aot-unpaired', 'aot-unpaired'),
    named('apo-zero', 'apo-zero'),
    named('apo-down', 'apo-down'),
    named('discopop', 'discopop'),
    named('sft', 'sft'),
    named('sigmoid-norm', { kind: 'sigmoid-norm', beta: 0.5 }),
    named('three terms', [
      { kind: 'sigmoid', weight: 0.8 },
      { kind: 'bco-pair', weight: 0.2 },
      { kind: 'sft', weight: 1 },
    ]),
    named('ld_alpha 0.5', 'sigmoid', { lengthDiscount: 0.5 }),
    named('forward KL', { kind: 'sigmoid', divergence: 'forward-kl' }),
    named('JS divergence', { kind: 'sigmoid', divergence: 'jensen-shannon' }),
    named('alpha divergence', { kind: 'ipo', divergence: { alpha: 0.3 } }),
    named('moving reference', 'sigmoid', {
      referenceUpdate: { method: 'ema', decay: 0.4, everyUpdates: 1 },
    }),
    named('cpo', 'cpo'),
    named('cpo hinge', { kind: 'cpo', form: 'hinge' }),
    named('cpo ipo', { kind: 'cpo', form: 'ipo', imitation: 0.5 }),
    named('simpo', { kind: 'simpo', beta: 2, margin: 1 }),
    named('cpo-simpo, smoothed', { kind: 'simpo', imitation: 1, labelSmoothing: 0.1 }),
    named('alphapo', { kind: 'simpo', beta: 1, alpha: 0.25 }),
    named('orpo', 'orpo'),
    named('kto', 'kto'),
    named('kto, weighted', { kind: 'kto', desirableWeight: 0.7, undesirableWeight: 1.3, beta: 0.3 }),
    named('apo-zero-unpaired', 'apo-zero-unpaired'),
  ])('makes the three updates of TRL: %s', async (name, options) => {
    const single = name.startsWith('kto') || name === 'apo-zero-unpaired';
    const data = single ? { examples } : { pairs };
    const reports = await compare(
      name,
      runPreferenceTraining({ backend, ...data }, { ...options, ...length }),
      'loss/preference',
    );
    const { updates, weights } = recorded.cases[name]!;
    const own = await backend.getWeights();
    let [apart, moved] = [0, 0];
    for (const [tensor, place, value] of weights) {
      apart += (own.get(tensor)!.data[place]! - value) ** 2;
      moved += (start.get(tensor)!.data[place]! - value) ** 2;
    }
    expect(Math.sqrt(apart / moved)).toBeLessThan(1e-3);
    // Before the first update no reward against a reference is larger than another.
    for (const [index, { logs }] of updates.entries()) {
      const accuracy = reports[index]!['reward/accuracy'];
      if (accuracy !== undefined) expect(accuracy).toBeCloseTo(logs['rewards/accuracies']!, 6);
    }
    const { logs } = updates.at(-1)!;
    const said: Metrics = reports.at(-1)!;
    for (const [theirs, ours] of [
      ['rewards/chosen', 'reward/chosen'],
      ['rewards/rejected', 'reward/rejected'],
      ['rewards/margins', 'reward/margin'],
      ['rewards/accuracies', 'reward/accuracy'],
      ['kl', 'kl/mismatched'],
    ] as const) {
      // TRL reports rewards of an imitation loss, which implies none.
      if (logs[theirs] === undefined || said[ours] === undefined) continue;
      expect(said[ours]).toBeCloseTo(logs[theirs], 3);
    }
  });
});

describe('runRewardModelTraining', () => {
  it.each([
    ['reward model', {}, undefined],
    ['reward model, margins, centred', { centering: 0.01 }, margins],
  ] as const satisfies readonly [string, RewardModelOptions, readonly number[] | undefined][])(
    'makes the three updates of TRL: %s',
    async (name, options, given) => {
      const withMargins = given ? pairs.map((pair, index) => ({ ...pair, margin: given[index]! })) : pairs;
      const run = runRewardModelTraining({ backend, pairs: withMargins }, { ...options, ...length });
      const reports = await compare(name, run, 'loss/reward-model');
      for (const [index, { logs }] of recorded.cases[name]!.updates.entries()) {
        expect(reports[index]!['reward/accuracy']).toBeCloseTo(logs.accuracy!, 6);
        expect(reports[index]!['reward/margin']).toBeCloseTo(logs.margin!, 3);
        expect(reports[index]!['reward/mean']).toBeCloseTo(logs.mean_reward!, 3);
      }
    },
  );
});
