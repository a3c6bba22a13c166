import { defineLoss, type Loss } from '@rlp/core';
import { ApiError } from '../api-error.ts';

type Config = Readonly<Record<string, number>>;
type Maker = (config: Config) => Loss;

const columns = ['behaviorLogprobs', 'advantages'] as const;

/** `−ln π`. Its weights are the tokens' weights. */
const crossEntropy: Maker = () => ({
  key: 'tinker/cross_entropy',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
});

/** `−r·A` with `r = π/π_b`. */
const importanceSampling: Maker = () =>
  defineLoss({
    key: 'tinker/importance_sampling',
    columns,
    compute(ops, { logprobs, columns: { behaviorLogprobs, advantages } }) {
      const ratio = ops.exp(ops.sub(logprobs, behaviorLogprobs));
      return { tokenLosses: ops.neg(ops.mul(ratio, advantages)) };
    },
  });

/** `−min(r·A, clip(r, low, high)·A)`. The bounds are ratios. */
const ppo: Maker = (config) => {
  const { clip_low_threshold: low = 0.8, clip_high_threshold: high = 1.2 } = config;
  return defineLoss({
    key: `tinker/ppo ${low} ${high}`,
    columns,
    compute(ops, { logprobs, columns: { behaviorLogprobs, advantages } }) {
      const ratio = ops.exp(ops.sub(logprobs, behaviorLogprobs));
      const clipped = ops.mul(ops.clip(ratio, low, high), advantages);
      return { tokenLosses: ops.neg(ops.minimum(ops.mul(ratio, advantages), clipped)) };
    },
  });
};

/** `−clip(r, low, high)·A·ln π`, without a gradient through the ratio. */
const cispo: Maker = (config) => {
  const { clip_low_threshold: low = 0, clip_high_threshold: high = 4 } = config;
  return defineLoss({
    key: `tinker/cispo ${low} ${high}`,
    columns,
    compute(ops, { logprobs, columns: { behaviorLogprobs, advantages } }) {
      const ratio = ops.exp(ops.sub(logprobs, behaviorLogprobs));
      const factor = ops.mul(ops.stopGradient(ops.clip(ratio, low, high)), advantages);
      return { tokenLosses: ops.neg(ops.mul(factor, logprobs)) };
    },
  });
};

/** `−(A·ln π − β/2·(ln π − ln π_b)²)`. */
const dro: Maker = ({ beta }) => {
  if (beta === undefined) throw new ApiError(400, 'dro: expected `beta` in loss_fn_config, got none');
  return defineLoss({
    key: `tinker/dro ${beta}`,
    columns,
    compute(ops, { logprobs, columns: { behaviorLogprobs, advantages } }) {
      const penalty = ops.mul(ops.constant(beta / 2), ops.square(ops.sub(logprobs, behaviorLogprobs)));
      return { tokenLosses: ops.sub(penalty, ops.mul(advantages, logprobs)) };
    },
  });
};

const losses: Readonly<Record<string, { readonly make: Maker; readonly settings: readonly string[] }>> = {
  cross_entropy: { make: crossEntropy, settings: [] },
  importance_sampling: { make: importanceSampling, settings: [] },
  ppo: { make: ppo, settings: ['clip_low_threshold', 'clip_high_threshold'] },
  cispo: { make: cispo, settings: ['clip_low_threshold', 'clip_high_threshold'] },
  dro: { make: dro, settings: ['beta'] },
};

/**
 * The loss that Tinker has under this name.
 *
 * @throws ApiError for an unknown name or setting.
 */
export function lossNamed(name: string, config: Config): Loss {
  const known = Object.hasOwn(losses, name) ? losses[name] : undefined;
  if (known === undefined) {
    throw new ApiError(400, `loss_fn: expected one of ${Object.keys(losses).join(', ')}, got "${name}"`);
  }
  const foreign = Object.keys(config).find((key) => !known.settings.includes(key));
  if (foreign !== undefined) {
    const has = known.settings.join(' and ') || 'no settings';
    throw new ApiError(400, `loss_fn_config: ${name} has ${has}, got "${foreign}"`);
  }
  return known.make(config);
}
