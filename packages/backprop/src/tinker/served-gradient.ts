import { ArgumentError, type TrainingBatch, TrainingError } from '@rlp/core';
import { type ChunkLimits, chunksOf } from './chunks.ts';
import { type Contribution, gradientInput, type Reduction, type TokenRows } from './gradients.ts';
import type { NativeLoss } from './native-loss.ts';
import type { ServedModel } from './served-model.ts';
import type { Submitted } from './session.ts';
import { anySchema } from './wire.ts';

/**
 * The gradient that a server accumulates for a model until its next update.
 *
 * Servers cannot drop a gradient. After a failure nobody knows what they hold: the request may have arrived, and a server that fails
 * may keep the gradient or not. Such a gradient is in doubt, and the backend goes on with another model of the same state.
 */
export class ServedGradient {
  readonly #model: ServedModel;
  readonly #options: ChunkLimits & { readonly reduction: Reduction };
  #sequences = 0;
  #calls = 0;
  #origin: 'zero' | 'unknown' = 'zero';
  #failure: { readonly call: number; readonly error: unknown } | undefined;

  constructor(model: ServedModel, options: ChunkLimits & { readonly reduction: Reduction }) {
    this.#model = model;
    this.#options = options;
  }

  /** Whether no request was sent that may have added to it. */
  get isEmpty(): boolean {
    return this.#sequences === 0 && this.#origin === 'zero';
  }

  /** Whether a call failed, so that what the server holds is unknown. */
  get isInDoubt(): boolean {
    return this.#failure !== undefined;
  }

  /** The update before it failed, so that it may begin with the gradient of that. */
  inherit(error: unknown): void {
    this.#origin = 'unknown';
    this.#fail(error, -1);
  }

  #fail(error: unknown, call: number): void {
    if (this.#failure === undefined || call < this.#failure.call) this.#failure = { call, error };
  }

  /** Guards the steps of the next call that adds to it: if one fails, the gradient is in doubt. */
  begin(): <Result>(step: () => Promise<Result>, before?: Promise<unknown>) => Promise<Result> {
    const call = this.#calls++;
    return async (step, before) => {
      try {
        const result = await step();
        await before;
        this.#requireKept(call);
        return result;
      } catch (error) {
        // Arguments are refused before anything is computed.
        if (!(error instanceof ArgumentError)) this.#fail(error, call);
        throw error;
      }
    };
  }

  /** What a call added is lost if one before it failed. */
  #requireKept(call: number): void {
    if (this.#failure === undefined || this.#failure.call >= call) return;
    throw new TrainingError(
      'forwardBackward: a call before this one failed, so the accumulated gradient was dropped; send this batch again',
      { cause: this.#failure.error },
    );
  }

  /** Call with the result of the update. An update that was sent cannot be taken back if a call before it turns out to have failed. */
  requireWhole(): void {
    if (this.#failure === undefined) return;
    throw new TrainingError(
      'optimStep: a call before this update failed after the update was sent, so it was made with a part of the gradient; load the last checkpoint, or await forwardBackward before optimStep',
      { cause: this.#failure.error },
    );
  }

  /** Sends contributions. */
  async add(contributions: readonly Contribution[], native: NativeLoss): Promise<Submitted[]> {
    const submitted: Submitted[] = [];
    for (const chunk of chunksOf(contributions, this.#options)) {
      const input = gradientInput(chunk, native, this.#options.reduction);
      this.#sequences += chunk.length;
      submitted.push(await this.#model.submitGradient(input));
    }
    return submitted;
  }

  /** Updates the weights, after which nothing is accumulated. Reports how many sequences the server added up. */
  async update(
    adam: Readonly<Record<string, number>>,
  ): Promise<{ readonly submitted: Submitted; readonly sequences: number }> {
    try {
      return { submitted: await this.#model.submitUpdate(adam), sequences: this.#sequences };
    } catch (error) {
      this.inherit(error);
      throw error;
    }
  }

  /** Leaves no gradient behind: SkyRL 0.3 gives it to the next model in this one's place. */
  async settle(adam: Readonly<Record<string, number>>, signal: AbortSignal): Promise<void> {
    if (this.isEmpty) return;
    const submitted = this.#model.submitUpdate({ ...adam, learning_rate: 0 }, signal);
    await submitted.then((one) => this.#model.session.result(one, anySchema, signal)).catch(() => undefined);
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
