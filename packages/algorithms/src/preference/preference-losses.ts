import { parseOptions, requireArguments, requireFields, type TensorOps } from '@rlp/core';
import { type PairTerm, pairTermSchema, type SingleTerm, singleTermSchema } from './loss-options.ts';
import {
  divergenceScores,
  imitationLoss,
  logOddsRatio,
  logRatios,
  negativeLogSigmoid,
  type PairInputs,
  scaled,
  smoothedLogistic,
} from './pair-losses.ts';

/** The term that has a kind. One term may have several. */
type TermOf<Kind extends PairTerm['kind'], Term = PairTerm> = Term extends { readonly kind: infer Own }
  ? Kind extends Own
    ? Term
    : never
  : never;

/** Loss of every pair, `[B, 1]`. */
type PairLoss<Term> = <T>(ops: TensorOps<T>, pair: PairInputs<T>, term: Term) => T;

/** DPO, also with scores per token. Rafailov et al. 2023, https://arxiv.org/abs/2305.18290 */
const logistic: PairLoss<TermOf<'sigmoid'>> = (ops, pair, { kind, beta, labelSmoothing, divergence }) => {
  const delta = scoreGap(ops, pair, { divergence, per: kind === 'sigmoid' ? 'sequence' : 'token' });
  return smoothedLogistic(ops, scaled(ops, beta, delta), labelSmoothing);
};

/** SLiC and RSO, https://arxiv.org/abs/2309.06657; IPO, Azar et al. 2023, equation 17, https://arxiv.org/abs/2310.12036 */
const margins: PairLoss<TermOf<'hinge'>> = (ops, pair, { kind, beta, divergence }) => {
  const per = kind === 'hinge' ? 'sequence' : 'token';
  return marginLoss(ops, scoreGap(ops, pair, { divergence, per }), { form: kind, beta });
};

/** Chowdhury et al. 2024, https://arxiv.org/abs/2403.00409 */
const robust: PairLoss<TermOf<'robust'>> = (ops, pair, { beta, labelSmoothing: epsilon, divergence }) => {
  const x = scaled(ops, beta, scoreGap(ops, pair, { divergence, per: 'sequence' }));
  const kept = scaled(ops, 1 - epsilon, negativeLogSigmoid(ops, x));
  const flipped = scaled(ops, epsilon, negativeLogSigmoid(ops, ops.neg(x)));
  return scaled(ops, 1 / (1 - 2 * epsilon), ops.sub(kept, flipped));
};

/** Ji et al. 2024, equation 16, https://arxiv.org/abs/2402.00856 */
const exo: PairLoss<TermOf<'exo-pair'>> = (ops, pair, { beta, labelSmoothing: epsilon, divergence }) => {
  const x = scaled(ops, beta, scoreGap(ops, pair, { divergence, per: 'sequence' }));
  const part = (logit: typeof x, logTarget: number) =>
    ops.mul(ops.sigmoid(logit), ops.sub(ops.neg(negativeLogSigmoid(ops, logit)), ops.constant(logTarget)));
  return ops.add(part(x, Math.log1p(-epsilon)), part(ops.neg(x), Math.log(epsilon)));
};

/** Lu et al. 2024, equation 5, https://arxiv.org/abs/2406.08414 */
const discopop: PairLoss<TermOf<'discopop'>> = (ops, pair, { beta, divergence, temperature }) => {
  const x = scaled(ops, beta, scoreGap(ops, pair, { divergence, per: 'sequence' }));
  const blend = ops.sigmoid(scaled(ops, 1 / temperature, x));
  const kept = ops.mul(negativeLogSigmoid(ops, x), ops.sub(ops.constant(1), blend));
  return ops.add(kept, ops.mul(ops.exp(ops.neg(x)), blend));
};

/**
 * NCA, https://arxiv.org/abs/2402.05369; BCO, https://arxiv.org/abs/2404.04656; SPPO, https://arxiv.org/abs/2405.00675;
 * APO, equations 7 and 8, https://arxiv.org/abs/2408.06266
 */
const plain: PairLoss<TermOf<'nca-pair'>> = (ops, pair, { kind, beta }) => {
  const ratios = logRatios(ops, pair);
  const [chosen, rejected] = [scaled(ops, beta, ratios.chosen), scaled(ops, beta, ratios.rejected)];
  const up = (x: typeof chosen) => negativeLogSigmoid(ops, x);
  const down = (x: typeof chosen) => negativeLogSigmoid(ops, ops.neg(x));
  const falling = (x: typeof chosen) => ops.sub(ops.constant(1), ops.sigmoid(x));
  switch (kind) {
    case 'nca-pair':
      return ops.add(up(chosen), scaled(ops, 0.5, ops.add(down(chosen), down(rejected))));
    case 'bco-pair':
      return ops.add(up(chosen), down(rejected));
    case 'sppo-hard':
      return ops.add(
        ops.square(ops.sub(ratios.chosen, ops.constant(0.5 / beta))),
        ops.square(ops.add(ratios.rejected, ops.constant(0.5 / beta))),
      );
    case 'apo-zero':
      return ops.add(falling(chosen), ops.sigmoid(rejected));
    case 'apo-down':
      return ops.add(ops.sigmoid(chosen), falling(ops.sub(chosen, rejected)));
  }
};

/** Melnyk et al. 2024, https://arxiv.org/abs/2406.05882. The batch is matched by rank before this is called. */
const transport: PairLoss<TermOf<'aot'>> = (ops, pair, { beta, labelSmoothing }) =>
  smoothedLogistic(
    ops,
    scaled(ops, beta, scoreGap(ops, pair, { divergence: 'reverse-kl', per: 'sequence' })),
    labelSmoothing,
  );

/** Xu et al. 2024, https://arxiv.org/abs/2401.08417 */
const cpo: PairLoss<TermOf<'cpo'>> = (ops, pair, { beta, labelSmoothing, form, imitation }) => {
  const { chosen, rejected } = form === 'ipo' ? means(ops, pair) : pair;
  const gap = ops.sub(chosen, rejected);
  const losses =
    form === 'logistic'
      ? smoothedLogistic(ops, scaled(ops, beta, gap), labelSmoothing)
      : marginLoss(ops, gap, { form, beta });
  return imitating(ops, pair, losses, { imitation, imitated: 'completion' });
};

/** Meng et al. 2024, https://arxiv.org/abs/2405.14734; AlphaPO, https://arxiv.org/abs/2501.03884 */
const simpo: PairLoss<TermOf<'simpo'>> = (ops, pair, { beta, labelSmoothing, margin, alpha, imitation }) => {
  const { chosen, rejected } = means(ops, pair);
  const reward = (mean: typeof chosen) =>
    alpha === 0 ? mean : scaled(ops, 1 / alpha, ops.sub(ops.constant(1), ops.exp(scaled(ops, -alpha, mean))));
  const gap = ops.sub(ops.sub(reward(chosen), reward(rejected)), ops.constant(margin / beta));
  const losses = smoothedLogistic(ops, scaled(ops, beta, gap), labelSmoothing);
  return imitating(ops, pair, losses, { imitation, imitated: 'completion' });
};

const orpo: PairLoss<TermOf<'orpo'>> = (ops, pair, { beta, imitation, imitated }) => {
  const losses = scaled(ops, beta, negativeLogSigmoid(ops, logOddsRatio(ops, pair)));
  return imitating(ops, pair, losses, { imitation, imitated });
};

/**
 * The loss of a term over pairs, `[B, 1]`.
 *
 * @throws OptionsError for a wrong term.
 */
export function pairLoss<T>(ops: TensorOps<T>, inputs: PairInputs<T>, term: PairTerm): T {
  requireArguments('pairLoss', { ops: 'operations', inputs: 'object' }, ops, inputs);
  return lossOf(ops, inputs, parseOptions('pairLoss', pairTermSchema, term));
}

function lossOf<T>(ops: TensorOps<T>, inputs: PairInputs<T>, term: PairTerm): T {
  switch (term.kind) {
    case 'sigmoid':
    case 'sigmoid-norm':
      return logistic(ops, inputs, term);
    case 'hinge':
    case 'ipo':
      return margins(ops, inputs, term);
    case 'robust':
      return robust(ops, inputs, term);
    case 'exo-pair':
      return exo(ops, inputs, term);
    case 'discopop':
      return discopop(ops, inputs, term);
    case 'aot':
    case 'aot-unpaired':
      return transport(ops, inputs, term);
    case 'sft':
      return imitationLoss(ops, inputs, 'completion');
    case 'cpo':
      return cpo(ops, inputs, term);
    case 'simpo':
      return simpo(ops, inputs, term);
    case 'orpo':
      return orpo(ops, inputs, term);
    default:
      return plain(ops, inputs, term);
  }
}

/** What a loss over single sequences reads. Each is `[B, 1]`. */
export interface SingleInputs<T> {
  /** `ln π(completion | prompt)`. Carries the gradient. */
  readonly logprobs: T;
  /** The same under the reference policy. */
  readonly reference: T;
  /** 1 for a desirable sequence, 0 for an undesirable one. */
  readonly desirable: T;
  /** Estimate of KL(π ‖ π_ref), at least 0. `[1, 1]`. KTO reads it. */
  readonly divergence: T;
}

/**
 * The loss of a term over single sequences, `[B, 1]`.
 *
 *     kto:               1 − σ(β(r − kl)) if desirable, 1 − σ(β(kl − r)) otherwise, r = ln π − ln π_ref
 *     apo-zero-unpaired: 1 − σ(βr) if desirable, σ(βr) otherwise
 *
 * @throws OptionsError for a wrong term.
 * @see Ethayarajh et al. 2024, equation 7, https://arxiv.org/abs/2402.01306
 */
export function singleLoss<T>(ops: TensorOps<T>, inputs: SingleInputs<T>, term: SingleTerm): T {
  requireArguments('singleLoss', { ops: 'operations' }, ops);
  requireFields(
    'singleLoss',
    { logprobs: 'given', reference: 'given', desirable: 'given', divergence: 'given' },
    inputs,
  );
  const { kind, beta, desirableWeight, undesirableWeight } = parseOptions(
    'singleLoss',
    singleTermSchema,
    term,
  );
  const ratio = ops.sub(inputs.logprobs, inputs.reference);
  const x = scaled(ops, beta, kind === 'kto' ? ops.sub(ratio, inputs.divergence) : ratio);
  const desirable = scaled(ops, desirableWeight, ops.sigmoid(ops.neg(x)));
  return ops.where(inputs.desirable, desirable, scaled(ops, undesirableWeight, ops.sigmoid(x)));
}

function scoreGap<T>(
  ops: TensorOps<T>,
  pair: PairInputs<T>,
  how: { readonly divergence: TermOf<'sigmoid'>['divergence']; readonly per: 'sequence' | 'token' },
): T {
  const { chosen, rejected } = divergenceScores(ops, pair, how.divergence);
  if (how.per === 'sequence') return ops.sub(chosen, rejected);
  return ops.sub(ops.div(chosen, pair.chosenTokens), ops.div(rejected, pair.rejectedTokens));
}

function marginLoss<T>(
  ops: TensorOps<T>,
  gap: T,
  { form, beta }: { readonly form: 'hinge' | 'ipo'; readonly beta: number },
): T {
  if (form === 'ipo') return ops.square(ops.sub(gap, ops.constant(1 / (2 * beta))));
  return ops.maximum(ops.sub(ops.constant(1), scaled(ops, beta, gap)), ops.constant(0));
}

/** Mean log-probabilities per token. */
function means<T>(ops: TensorOps<T>, pair: PairInputs<T>) {
  return {
    chosen: ops.div(pair.chosen, pair.chosenTokens),
    rejected: ops.div(pair.rejected, pair.rejectedTokens),
  };
}

function imitating<T>(
  ops: TensorOps<T>,
  pair: PairInputs<T>,
  losses: T,
  { imitation, imitated }: { readonly imitation: number; readonly imitated: 'completion' | 'sequence' },
): T {
  if (imitation === 0) return losses;
  return ops.add(losses, scaled(ops, imitation, imitationLoss(ops, pair, imitated)));
}
