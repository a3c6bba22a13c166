import { readFileSync } from 'node:fs';
import { createEngine, type Engine, programUrl } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NamedTensor } from '../program-protocol.ts';
import type { OptimizerMethods } from '../testing/optimizer.program.ts';
import { type OptimizerOptions, optimizerSchema } from './options.ts';
import { stateSpecs } from './state-specs.ts';
import type { TrainedParameter } from './update-rule.ts';

type Tensors = Readonly<Record<string, readonly number[]>>;

/** Computed by transformers and PyTorch. */
interface Case {
  readonly name: string;
  readonly options: OptimizerOptions;
  readonly learningRate: number;
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly start: Tensors;
  readonly gradients: readonly Tensors[];
  readonly after: readonly Tensors[];
}

const path = new URL('../../fixtures/testdata/optimizers.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { readonly cases: readonly Case[] };

let engine: Engine;
let created = 0;
beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 1 });
});
afterAll(() => engine.close());

function tensorsOf(values: Tensors, shapes: Case['shapes']): NamedTensor[] {
  return Object.entries(values).map(([name, data]) => ({
    name,
    shape: shapes[name]!,
    data: Float32Array.from(data),
  }));
}

function parametersOf({ shapes }: Pick<Case, 'shapes'>): TrainedParameter[] {
  return Object.entries(shapes).map(([name, shape]) => ({ name, shape, role: 'linear' }));
}

async function start(one: Pick<Case, 'options' | 'shapes' | 'start'>) {
  const store = `optimizer-${created++}`;
  const parameters = parametersOf(one);
  const specs = parameters.map(({ name, shape }) => ({ name, shape }));
  const values = new Map(tensorsOf(one.start, one.shapes).map((tensor) => [tensor.name, tensor]));
  await engine.createStore({ name: store, parameters: specs, slots: ['gradient'] }, values);
  return engine.start<OptimizerMethods>(
    { url: programUrl(import.meta.url, '../testing/optimizer.program') },
    { store, parameters, optimizer: optimizerSchema.parse(one.options) },
  );
}

function largestGap(got: readonly NamedTensor[], expected: Tensors): number {
  const gaps = got.flatMap(({ name, data }) => [...data].map((x, i) => Math.abs(x - expected[name]![i]!)));
  return Math.max(...gaps);
}

describe('optimizers as graphs', () => {
  it.each(cases.map((one) => [one.name, one] as const))(
    'equals the updates of PyTorch or transformers: %s',
    async (_, one) => {
      const program = await start(one);
      for (const [made, gradients] of one.gradients.entries()) {
        const values = await program.call('update', {
          gradients: tensorsOf(gradients, one.shapes),
          learningRate: one.learningRate,
          update: made + 1,
        });
        expect(largestGap(values, one.after[made]!), `update ${made + 1}`).toBeLessThan(2e-6);
      }
      await program.stop();
    },
  );

  it.each(cases.map((one) => [one.name, one] as const))(
    'goes on from saved state as if it had not stopped: %s',
    async (_, one) => {
      const step = (made: number) => ({
        gradients: tensorsOf(one.gradients[made]!, one.shapes),
        learningRate: one.learningRate,
        update: made + 1,
      });
      const first = await start(one);
      await first.call('update', step(0));
      const middle = await first.call('update', step(1));
      const state = await first.call('save', undefined);
      expect(state.map(({ name }) => name)).toEqual(
        stateSpecs(optimizerSchema.parse(one.options), parametersOf(one)).map(({ name }) => name),
      );
      const start2 = Object.fromEntries(middle.map(({ name, data }) => [name, [...data]]));
      const second = await start({ ...one, start: start2 });
      await second.call('restore', state);
      expect(await second.call('update', step(2))).toEqual(await first.call('update', step(2)));
      await first.stop();
      await second.stop();
    },
  );
});

describe('state', () => {
  const parameters = parametersOf({ shapes: { matrix: [6, 4], vector: [4] } });
  const numbers = (options: OptimizerOptions) =>
    stateSpecs(optimizerSchema.parse(options), parameters).reduce(
      (sum, { shape }) => sum + shape.reduce((a, b) => a * b),
      0,
    );

  it('takes as many numbers as the optimizer needs', () => {
    expect(numbers({})).toBe(2 * (24 + 4));
    expect(numbers({ kind: 'lion' })).toBe(24 + 4);
    expect(numbers({ kind: 'sgd' })).toBe(0);
    expect(numbers({ kind: 'adafactor' })).toBe(6 + 4 + 4);
  });
});
