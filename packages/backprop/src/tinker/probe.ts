import { TrainingError } from '@rlp/core';
import { RequestError } from '@rlp/http/client';
import { type Contribution, gradientInput, plainLoss, type Reduction, scoringInput } from './gradients.ts';
import { type NativeLoss, slopeAt, unbounded } from './native-loss.ts';
import type { TinkerSession } from './session.ts';
import { anySchema, futureSchema, optimSchema, passSchema } from './wire.ts';

/** Looks at how a server computes gradients, by their norms, on a model that is thrown away. */
class GradientProbe {
  readonly #session: TinkerSession;
  readonly #model: string;
  #order = 0;

  constructor(session: TinkerSession, model: string) {
    this.#session = session;
    this.#model = model;
  }

  /** Ends what another model may have left: SkyRL 0.3 gives its gradient to the next model in its place. */
  async settle(): Promise<void> {
    await this.norm(scoringInput([[1, 2, 3]]));
  }

  /** Norm of the gradient of an input, or `undefined` if the server reports none. The weights stay as they are. */
  async norm(input: object): Promise<number | undefined> {
    const passed = await this.#submit('/forward_backward', { forward_backward_input: input });
    const adam_params = { learning_rate: 0, beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0 };
    const updated = await this.#submit('/optim_step', { adam_params, type: 'optim_step' });
    await this.#session.result(passed, anySchema);
    const { metrics } = await this.#session.result(updated, optimSchema);
    return normIn(metrics ?? {});
  }

  /** Logprobs of the tokens after the first. */
  async logprobs(tokens: readonly number[]): Promise<readonly number[]> {
    const scored = await this.#submit('/forward', { forward_input: scoringInput([tokens]) });
    const { loss_fn_outputs } = await this.#session.result(scored, passSchema);
    return loss_fn_outputs[0]?.logprobs.data ?? [];
  }

  #submit(path: string, body: object) {
    return this.#session.submit(
      path,
      { model_id: this.#model, seq_id: ++this.#order, ...body },
      futureSchema,
    );
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
  const probe = new GradientProbe(session, model);
  const normOf = (weight: number) => {
    const slopes = Float64Array.of(0, -weight, -weight);
    return probe.norm(gradientInput([{ tokens: [1, 2, 3], anchors: [], slopes }], plainLoss('sum'), 'sum'));
  };
  await probe.settle();
  const [once, twice] = [await normOf(1), await normOf(2)];
  await session.unload(model);
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
    const model = await create();
    const probe = new GradientProbe(session, model);
    await probe.settle();
    const tokens = [1, 2, 3, 1, 2, 3];
    const logprobs = [0, ...(await probe.logprobs(tokens))];
    const tried = [[0, 1] as const, ...cases(native)];
    const anchors = logprobs.map((logprob, t) => logprob - tried[t]![0]);
    const slopes = Float64Array.from(tried, ([, sign], t) => (t === 0 ? 0 : -sign * (0.5 + t / 10)));
    const moved = slopes.map((slope, t) => slopeAt(native, slope, tried[t]![0]));
    const normOf = (contribution: Contribution, loss: NativeLoss) =>
      probe.norm(gradientInput([contribution], loss, reduction));
    const got = await normOf({ tokens, anchors, slopes }, native);
    const expected = await normOf({ tokens, anchors: logprobs, slopes: moved }, plainLoss(reduction));
    await session.unload(model);
    if (got === undefined || expected === undefined || expected === 0) return false;
    return Math.abs(got / expected - 1) < 1e-3;
  } catch (error) {
    if (error instanceof RequestError || error instanceof TrainingError) return false;
    throw error;
  }
}
