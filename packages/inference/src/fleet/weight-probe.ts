import { SamplerError, type ScoreRequest, type TokenScorer } from '@rlp/core';

/** A fixed text whose logprobs show whether an engine has the trainer's weights. */
export interface WeightProbe {
  /** Tokens that are scored. */
  readonly request: ScoreRequest;
  /** The trainer's logprobs of the completion, under the weights of the publication. */
  readonly trainer: (request: ScoreRequest, signal?: AbortSignal) => Promise<ArrayLike<number>>;
  /** Smallest change that counts, in nats. Keep it above the rounding of the engines. Default 0.01. */
  readonly tolerance?: number | undefined;
}

/** Logprobs of one engine or trainer. */
type Logprobs = readonly number[];

/** Scores after a publication. */
interface Known {
  readonly engine: Logprobs;
  readonly trainer: Logprobs;
}

/**
 * Compares how far the logprobs of a fixed text moved in the trainer and in an engine. Their levels may differ by rounding and precision.
 * An engine that keeps its old weights does not move. One that keeps some of them is further from the trainer than it was at first.
 */
export class ProbedWeights {
  readonly #probe: WeightProbe;
  /** Last scores of each engine, and its distance from the trainer at first. */
  readonly #known = new Map<object, Known & { readonly rounding: number }>();
  #trainer: Logprobs | undefined;

  constructor(probe: WeightProbe) {
    this.#probe = probe;
  }

  /** Asks the trainer, once for each publication. */
  async published(signal?: AbortSignal): Promise<void> {
    this.#trainer = Array.from(await this.#probe.trainer(this.#probe.request, signal));
  }

  /** @throws SamplerError for an engine whose logprobs did not move as the trainer's. */
  async check(engine: TokenScorer, signal?: AbortSignal): Promise<void> {
    const trainer = this.#trainer;
    if (trainer === undefined) return;
    const [scores] = await engine.scoreTokens([this.#probe.request], signal && { signal });
    const now = { engine: Array.from(scores!.logprobs), trainer };
    const before = this.#known.get(engine);
    if (before !== undefined) this.#compare(before, now);
    this.#known.set(engine, { ...now, rounding: before?.rounding ?? level(now) });
  }

  #compare(before: Known & { readonly rounding: number }, now: Known): void {
    const { tolerance = 0.01 } = this.#probe;
    const wanted = now.trainer.map((x, t) => x - before.trainer[t]!);
    const moved = now.engine.map((x, t) => x - before.engine[t]!);
    const distance = Math.max(0, ...wanted.map(Math.abs));
    if (distance < 2 * tolerance) return;
    const gap = Math.max(...wanted.map((x, t) => Math.abs(x - moved[t]!)));
    const isOff = level(now) > tolerance + 4 * before.rounding;
    if (!isOff && gap < distance / 2) return;
    throw new SamplerError(
      `its logprobs of a fixed text moved by ${format(moved)} nats, the trainer's by ${format(wanted)}: it answered and did not load the weights, or only some of them`,
    );
  }
}

/** Largest difference between an engine and the trainer. */
function level({ engine, trainer }: Known): number {
  return Math.max(0, ...engine.map((x, t) => Math.abs(x - trainer[t]!)));
}

function format(changes: readonly number[]): string {
  return Math.max(0, ...changes.map(Math.abs)).toFixed(3);
}
