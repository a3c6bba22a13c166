import { RandomStream } from '@rlp/core';
import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { MicroBatch } from '../batch/fill.ts';
import type { DropoutMask, DropoutOptions } from '../program-protocol.ts';

/**
 * Masks of the inputs of low-rank corrections.
 *
 * The mask of a sequence is drawn from a stream named by the correction, the update, the call since that update and the index
 * of the sequence in the batch. So it does not depend on micro-batches, and a resumed run draws the same.
 */
export class DropoutMasks {
  readonly #options: DropoutOptions | undefined;
  /** Calls since the last update. */
  #calls = 0;

  constructor(options: DropoutOptions | undefined) {
    this.#options = options;
  }

  /** Begins another call. Its micro-batches have the function that is returned draw their masks. */
  next(update: number): (masks: readonly DropoutMask[], batch: MicroBatch) => Tensors {
    const call = this.#calls++;
    return (masks, batch) =>
      Object.fromEntries(masks.map((mask) => [mask.input, this.#draw(mask, batch, [update, call])]));
  }

  /** Call after an update, and when gradients are discarded. */
  reset(): void {
    this.#calls = 0;
  }

  #draw({ parameter, width }: DropoutMask, { members }: MicroBatch, when: readonly number[]): Tensor {
    const { rate, seed } = this.#options!;
    const data = new Uint8Array(members.length * width);
    for (let start = 0, end = 0; start < members.length; start = end) {
      const member = members[start]!;
      while (end < members.length && members[end] === member) end++;
      const random = RandomStream.named('lora dropout', seed, parameter, ...when, member);
      fillMask(data.subarray(start * width, end * width), rate, random);
    }
    return new Tensor('bool', data, [members.length, width]);
  }
}

/** Sets each element to 0 with probability `rate` and to 1 otherwise. Draws only once per element of the rarer kind. */
export function fillMask(mask: Uint8Array, rate: number, random: RandomStream): void {
  const rare = rate <= 0.5 ? 0 : 1;
  mask.fill(1 - rare);
  const logCommon = Math.log1p(-Math.min(rate, 1 - rate));
  const gap = () => Math.floor(Math.log(1 - random.uniform()) / logCommon);
  for (let i = gap(); i < mask.length; i += 1 + gap()) mask[i] = rare;
}
