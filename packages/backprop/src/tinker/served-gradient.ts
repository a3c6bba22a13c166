import type { TrainingBatch } from '@rlp/core';
import { type ChunkLimits, chunksOf } from './chunks.ts';
import { type Contribution, gradientInput, plainLoss, type Reduction, type TokenRows } from './gradients.ts';
import { type NativeLoss, slopeAt } from './native-loss.ts';
import type { ServedModel } from './served-model.ts';
import type { Submitted } from './session.ts';
import { anySchema } from './wire.ts';

/** A part of the gradient that the server holds. */
interface Held {
  readonly contributions: readonly Contribution[];
  readonly native: NativeLoss;
}

/** The gradient that a server has accumulated for a model, and what it takes to undo it: servers cannot drop one. */
export class ServedGradient {
  readonly #model: ServedModel;
  readonly #options: ChunkLimits & { readonly reduction: Reduction };
  #held: Held[] = [];
  #sequences = 0;

  constructor(model: ServedModel, options: ChunkLimits & { readonly reduction: Reduction }) {
    this.#model = model;
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** Sends contributions. */
  async add(contributions: readonly Contribution[], native: NativeLoss): Promise<Submitted[]> {
    return this.#send(contributions, native, 1);
  }

  async #send(
    contributions: readonly Contribution[],
    native: NativeLoss,
    sign: 1 | -1,
  ): Promise<Submitted[]> {
    const submitted: Submitted[] = [];
    for (const chunk of chunksOf(contributions, this.#options)) {
      const input = gradientInput(chunk, native, this.#options.reduction, sign);
      submitted.push(await this.#model.submitGradient(input));
      this.#sequences += chunk.length;
      if (sign === 1) this.#held.push({ contributions: chunk, native });
    }
    return submitted;
  }

  /** Takes back what was added since the last update. Only rounding stays. */
  async discard(): Promise<void> {
    const plain = plainLoss(this.#options.reduction);
    for (const { contributions, native } of this.#held.splice(0)) {
      const taken = native.anchor === undefined ? contributions : await this.#moved(contributions, native);
      await this.#model.passed(await this.#send(taken, plain, -1));
    }
  }

  /** Contributions of a loss with ratios, as derivatives at the logprobs of now. */
  async #moved(contributions: readonly Contribution[], native: NativeLoss): Promise<Contribution[]> {
    const logprobs = await this.#model.score(
      contributions.map(({ tokens }) => tokens),
      this.#options,
    );
    return contributions.map(({ tokens, anchors, slopes }, index) => {
      const now = logprobs[index]!;
      const moved = slopes.map((slope, t) => slopeAt(native, slope, now[t]! - anchors[t]!));
      return { tokens, anchors: now, slopes: moved };
    });
  }

  /** Updates the weights. Tells how many sequences the server added up, those included that cancel each other. */
  async update(
    adam: Readonly<Record<string, number>>,
  ): Promise<{ readonly submitted: Submitted; readonly sequences: number }> {
    const submitted = await this.#model.submitUpdate(adam);
    const sequences = this.#sequences;
    this.#held = [];
    this.#sequences = 0;
    return { submitted, sequences };
  }

  /** Leaves no gradient behind: SkyRL 0.3 gives it to the next model in this one's place. */
  async settle(adam: Readonly<Record<string, number>>): Promise<void> {
    if (this.#sequences === 0) return;
    const submitted = this.#model.submitUpdate({ ...adam, learning_rate: 0 });
    await submitted.then((one) => this.#model.session.result(one, anySchema)).catch(() => undefined);
  }
}

/** Contributions of the sequences that have any, and which these are. */
export function contributionsOf(
  sequences: TrainingBatch['sequences'],
  anchors: TokenRows,
  slopes: readonly Float64Array[],
  which: 'all' | 'trained',
): { readonly contributions: Contribution[]; readonly members: number[] } {
  const members = sequences.flatMap(({ tokens }, index) => {
    const counts = which === 'all' ? tokens.length > 1 : slopes[index]!.some((slope) => slope !== 0);
    return counts ? [index] : [];
  });
  const contributions = members.map((index) => ({
    ...{ tokens: sequences[index]!.tokens, anchors: anchors[index]!, slopes: slopes[index]! },
  }));
  return { contributions, members };
}
