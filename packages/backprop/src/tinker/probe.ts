import { TrainingError } from '@rlp/core';
import { RequestError } from '@rlp/http/client';
import { type Contribution, gradientInput, plainLoss, type Reduction, scoringInput } from './gradients.ts';
import { type NativeLoss, slopeAt, unbounded } from './native-loss.ts';
import { ServedModel } from './served-model.ts';
import type { TinkerSession } from './session.ts';
import { anySchema, optimSchema } from './wire.ts';

/** Looks at how a server computes gradients, by their norms, on a model that is thrown away. */
class GradientProbe {
  readonly #model: ServedModel;

  constructor(model: ServedModel) {
    this.#model = model;
  }

  /** Ends what another model may have left: SkyRL 0.3 gives its gradient to the next model in its place. */
  async settle(): Promise<void> {
    await this.norm(scoringInput([[1, 2, 3]]));
  }

  /** Norm of the gradient of an input, or `undefined` if the server reports none. The weights stay as they are. */
  async norm(input: object): Promise<number | undefined> {
    const { session } = this.#model;
    const passed = await this.#model.submitGradient(input);
    const adam = { learning_rate: 0, beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0 };
    const updated = await this.#model.submitUpdate(adam);
    await session.result(passed, anySchema);
    const { metrics } = await session.result(updated, optimSchema);
    return normIn(metrics ?? {});
  }
}

/** The global norm of the gradient among a server's metrics, if it is there. */
export function normIn(metrics: Readonly<Record<string, number>>): number | undefined {
  const name = Object.keys(metrics).find((key) => /grad(ient)?_norm$/.test(key) && !/mhc/.test(key));
  return name === undefined ? undefined : metrics[name];
}

/**
 * Finds out whether the server sums losses, from the norms of two gradients. Doubled weights double a sum and leave a mean as it is. A server
 * that reports no norms sums, as Tinker documents it.
 */
export async function probeReduction(session: TinkerSession, model: string): Promise<Reduction> {
  const served = new ServedModel(session, model);
  const probe = new GradientProbe(served);
  const normOf = (weight: number) => {
    const slopes = Float64Array.of(0, -weight, -weight);
    return probe.norm(gradientInput([{ tokens: [1, 2, 3], anchors: [], slopes }], plainLoss('sum'), 'sum'));
  };
  await probe.settle();
  const [once, twice] = [await normOf(1), await normOf(2)];
  await served.unload();
  if (once === undefined || twice === undefined || once === 0) return 'sum';
  return twice / once < 1.5 ? 'means' : 'sum';
}

/** Log-ratios beyond the bounds of a loss and within, and the signs of their advantages. */
function cases({ low, high }: NativeLoss): readonly (readonly [logRatio: number, sign: 1 | -1])[] {
  const above = high === unbounded ? 1 : Math.log(high) + 0.3;
  const below = low > 0 ? Math.log(low) - 0.3 : -1;
  return [
    [0.02, 1],
    [above, 1],
    [below, 1],
    [above, -1],
    [below, -1],
  ];
}

/**
 * Whether the server's loss has the gradient that `native` says. Compares the norm with that of the same gradient, sent as weights. A server that
 * refuses the loss, ignores its bounds or reports no norms has not.
 */
export async function probeLoss(
  session: TinkerSession,
  create: () => Promise<string>,
  native: NativeLoss,
  reduction: Reduction,
): Promise<boolean> {
  try {
    const model = new ServedModel(session, await create());
    const probe = new GradientProbe(model);
    await probe.settle();
    const tokens = [1, 2, 3, 1, 2, 3];
    const [scored] = await model.score([tokens], { sequencesPerRequest: 1, bytesPerRequest: 1 });
    const logprobs = [...scored!];
    const tried = [[0, 1] as const, ...cases(native)];
    const anchors = logprobs.map((logprob, t) => logprob - tried[t]![0]);
    const slopes = Float64Array.from(tried, ([, sign], t) => (t === 0 ? 0 : -sign * (0.5 + t / 10)));
    const moved = slopes.map((slope, t) => slopeAt(native, slope, tried[t]![0]));
    const normOf = (contribution: Contribution, loss: NativeLoss) =>
      probe.norm(gradientInput([contribution], loss, reduction));
    const got = await normOf({ tokens, anchors, slopes }, native);
    const expected = await normOf({ tokens, anchors: logprobs, slopes: moved }, plainLoss(reduction));
    await model.unload();
    if (got === undefined || expected === undefined || expected === 0) return false;
    return Math.abs(got / expected - 1) < 1e-3;
  } catch (error) {
    if (error instanceof RequestError || error instanceof TrainingError) return false;
    throw error;
  }
}
