import {
  type AdamState,
  adam,
  adamw,
  clipFactor,
  globalNorm,
  movingAverage,
  type ScheduleOptions,
  scheduleFactor,
  scheduleSchema,
  sgd,
} from '@rlp/backprop';
import type { Adapter, AdapterTable, FixtureCase } from './fixture.ts';

/** Learning rates of the first `steps` updates. */
function schedule(options: (params: FixtureCase['params']) => ScheduleOptions): Adapter {
  return ({ params }) => {
    const resolved = scheduleSchema.parse(options(params));
    const factors = Array.from({ length: params.steps }, (_, made) => scheduleFactor(resolved, made));
    return { lrs: factors.map((factor) => params.base_lr * factor) };
  };
}

const cosine = schedule((params) => ({
  kind: 'cosine',
  warmup: params.num_warmup_steps,
  updates: params.num_training_steps,
  minimumRatio: params.min_lr_ratio,
  initialRatio: params.init_lr_ratio,
  cycles: params.num_cycles,
  pastEnd: 'continue',
}));

type Update = (
  value: Float64Array,
  gradient: Float64Array,
  state: AdamState,
  update: number,
  params: FixtureCase['params'],
) => void;

/** Ten updates of given gradients, clipped where the case says so. */
function optimizer(update: Update): Adapter {
  return ({ inputs, params }) => {
    const values = (inputs.params as number[][]).map((tensor) => Float64Array.from(tensor));
    const states = values.map(({ length }) => ({
      moment1: new Float64Array(length),
      moment2: new Float64Array(length),
      ...(params.amsgrad && { maximum: new Float64Array(length) }),
    }));
    const paramsAfter: number[][][] = [];
    const norms: number[] = [];
    for (const [index, tensors] of (inputs.grads as number[][][]).entries()) {
      const gradients = tensors.map((tensor) => Float64Array.from(tensor));
      const norm = globalNorm(gradients);
      const factor = params.max_norm === null ? 1 : clipFactor(norm, params.max_norm);
      for (const [at, value] of values.entries()) {
        const clipped = gradients[at]!.map((gradient) => gradient * factor);
        update(value, clipped, states[at]!, index + 1, params);
      }
      paramsAfter.push(values.map((value) => [...value]));
      norms.push(norm);
    }
    return { params_after: paramsAfter, grad_norms: norms };
  };
}

const adamStep = (params: FixtureCase['params'], update: number) => ({
  learningRate: params.lr,
  beta1: params.betas[0],
  beta2: params.betas[1],
  epsilon: params.eps,
  weightDecay: params.weight_decay,
  update,
});

export const optimisation: AdapterTable = {
  lr_schedules: {
    cosine,
    linear: schedule((params) => ({
      kind: 'linear',
      warmup: params.num_warmup_steps,
      updates: params.num_training_steps,
    })),
    constant_with_warmup: schedule((params) => ({ kind: 'constant', warmup: params.num_warmup_steps })),
    wsd: schedule((params) => ({
      kind: 'warmup-stable-decay',
      warmup: params.num_warmup_steps,
      updates: params.num_training_steps,
      stableRatio: params.stable_ratio,
      minimumRatio: params.min_lr_ratio,
    })),
    // Its floor is a share of the rate in force when the schedule is made, which is the warmup's first tenth.
    warmup_cosine_rollouts: schedule((params) => ({
      kind: 'cosine',
      warmup: params.num_warmup_steps,
      updates: params.num_training_steps,
      initialRatio: 0.1,
      minimumRatio: 0.1 * params.min_lr_ratio,
      pastEnd: 'continue',
    })),
    torch_cosine_annealing: schedule((params) => ({
      kind: 'cosine',
      updates: params.t_max,
      minimumRatio: params.eta_min / params.base_lr,
      pastEnd: 'continue',
    })),
  },
  ema_reference_update: {
    update_ref: ({ inputs, params }) => ({
      ref: (inputs.ref as number[][]).map((tensor, index) => {
        const average = Float64Array.from(tensor);
        const decay = params.method === 'copy' ? 0 : params.alpha;
        movingAverage(average, Float64Array.from(inputs.params[index]), decay);
        return average;
      }),
    }),
  },
  optimizers_torch: {
    adamw: optimizer((value, gradient, state, update, params) =>
      adamw(value, gradient, state, adamStep(params, update)),
    ),
    adam: optimizer((value, gradient, state, update, params) =>
      adam(value, gradient, state, adamStep(params, update)),
    ),
    sgd: optimizer((value, gradient, { moment1 }, _, params) =>
      sgd(value, gradient, moment1, {
        learningRate: params.lr,
        momentum: params.momentum,
        weightDecay: params.weight_decay,
        momentumForm: params.nesterov ? 'nesterov' : 'heavy-ball',
      }),
    ),
    clip_grad_norm: ({ inputs, params }) => {
      const gradients = (inputs.grads as number[][]).map((tensor) => Float64Array.from(tensor));
      const norm = globalNorm(gradients);
      const factor = clipFactor(norm, params.max_norm);
      return { norm, clipped: gradients.map((gradient) => gradient.map((x) => x * factor)) };
    },
  },
};
