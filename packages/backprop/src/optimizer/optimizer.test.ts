import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { adam, adamw, clipFactor, globalNorm, sgd } from './optimizer.ts';
import { optimizerSchema } from './options.ts';

const shared = process.env.RLP_SHARED ?? fileURLToPath(new URL('../../../../../shared', import.meta.url));
const file = `${shared}/conformance/optimizers_torch.json`;

interface Case {
  readonly id: string;
  readonly fn: string;
  readonly inputs: { readonly params: number[][]; readonly grads: number[][][] | number[][] };
  readonly params: {
    readonly betas: [number, number];
    readonly eps: number;
    readonly weight_decay: number;
    readonly amsgrad: boolean;
    readonly momentum: number;
    readonly nesterov: boolean;
    readonly max_norm: number | null;
    readonly lr: number;
  };
  readonly expected: {
    readonly params_after: number[][][];
    readonly grad_norms: number[];
    readonly norm: number;
    readonly clipped: number[][];
  };
}

function runOptimizer({ fn, inputs, params }: Case): { params_after: number[][][]; grad_norms: number[] } {
  const values = inputs.params.map((p) => Float64Array.from(p));
  const zeros = () => values.map((p) => new Float64Array(p.length));
  const [moment1, moment2, maximum] = [zeros(), zeros(), zeros()];
  const result = { params_after: [] as number[][][], grad_norms: [] as number[] };
  for (const [made, lists] of (inputs.grads as number[][][]).entries()) {
    const gradients = lists.map((g) => Float64Array.from(g));
    const norm = globalNorm(gradients);
    result.grad_norms.push(norm);
    const factor = params.max_norm === null ? 1 : clipFactor(norm, params.max_norm);
    for (const [i, value] of values.entries()) {
      const gradient = gradients[i]!.map((g) => g * factor);
      if (fn === 'sgd') {
        sgd(value, gradient, moment1[i]!, {
          learningRate: params.lr,
          momentum: params.momentum,
          weightDecay: params.weight_decay,
          momentumForm: params.nesterov ? 'nesterov' : 'heavy-ball',
        });
      } else {
        const [beta1, beta2] = params.betas;
        const state = {
          moment1: moment1[i]!,
          moment2: moment2[i]!,
          maximum: params.amsgrad ? maximum[i] : undefined,
        };
        (fn === 'adamw' ? adamw : adam)(value, gradient, state, {
          learningRate: params.lr,
          beta1,
          beta2,
          epsilon: params.eps,
          weightDecay: params.weight_decay,
          update: made + 1,
        });
      }
    }
    result.params_after.push(values.map((p) => [...p]));
  }
  return result;
}

describe('adamw', () => {
  it('moves by the learning rate against the sign of the first gradient, after decaying', () => {
    const value = Float64Array.of(1);
    const state = { moment1: new Float64Array(1), moment2: new Float64Array(1) };
    const step = { learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-12, weightDecay: 0.5, update: 1 };
    adamw(value, Float64Array.of(3), state, step);
    expect(value[0]).toBeCloseTo(1 * (1 - 0.05) - 0.1, 10);
  });
});

describe('adam', () => {
  it('divides by the largest second moment so far, if it is kept', () => {
    const value = Float64Array.of(0);
    const maximum = new Float64Array(1);
    const state = { moment1: new Float64Array(1), moment2: new Float64Array(1), maximum };
    const step = { learningRate: 1, beta1: 0, beta2: 0.5, epsilon: 0, weightDecay: 0 };
    adam(value, Float64Array.of(2), state, { ...step, update: 1 });
    expect([value[0], maximum[0]]).toEqual([-1, 2]);
    adam(value, Float64Array.of(1), state, { ...step, update: 2 });
    expect(value[0]).toBeCloseTo(-1 - 1 / Math.sqrt(2 / 0.75), 12);
    expect([state.moment2[0], maximum[0]]).toEqual([1.5, 2]);
  });
});

describe('sgd', () => {
  it.each([
    ['heavy-ball', [-1, -2.5]],
    ['nesterov', [-1.5, -3.25]],
  ] as const)('builds up speed: %s', (momentumForm, expected) => {
    const [value, velocity] = [Float64Array.of(0), Float64Array.of(0)];
    const step = { learningRate: 1, momentum: 0.5, weightDecay: 0, momentumForm };
    const values = [1, 2].map(() => {
      sgd(value, Float64Array.of(1), velocity, step);
      return value[0];
    });
    expect(values).toEqual(expected);
  });

  it('adds the decay to the gradient', () => {
    const [value, velocity] = [Float64Array.of(2), Float64Array.of(0)];
    sgd(value, Float64Array.of(1), velocity, {
      ...{ learningRate: 0.25, momentum: 0, weightDecay: 0.5, momentumForm: 'heavy-ball' },
    });
    expect([value[0], velocity[0]]).toEqual([1.5, 2]);
  });
});

describe('clipFactor', () => {
  it('never enlarges a gradient', () => expect(clipFactor(0.5, 1)).toBe(1));
  it('scales a larger one onto the bound', () => expect(clipFactor(4, 1)).toBeCloseTo(0.25, 6));
});

describe('optimizerSchema', () => {
  it('rejects an unknown option', () => {
    expect(optimizerSchema.safeParse({ beta3: 1 }).success).toBe(false);
  });
});

describe.skipIf(!existsSync(file))('PyTorch optimizers (needs optimizers_torch.json)', () => {
  const { cases } = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[] })
    : { cases: [] };
  const close = (expected: number[]) =>
    expected.map((x) => expect.toSatisfy((got: number) => Math.abs(got - x) <= 1e-9 + 1e-9 * Math.abs(x)));

  it.each(cases.map((one) => [one.id, one] as const))('%s', (_, one) => {
    if (one.fn === 'clip_grad_norm') {
      const gradients = (one.inputs.grads as number[][]).map((g) => Float64Array.from(g));
      const norm = globalNorm(gradients);
      const factor = clipFactor(norm, one.params.max_norm!);
      expect([norm]).toEqual(close([one.expected.norm]));
      expect(gradients.map((g) => [...g].map((x) => x * factor))).toEqual(one.expected.clipped.map(close));
      return;
    }
    const { params_after, grad_norms } = runOptimizer(one);
    expect(grad_norms).toEqual(close(one.expected.grad_norms));
    expect(params_after).toEqual(one.expected.params_after.map((tensors) => tensors.map(close)));
  });
});
