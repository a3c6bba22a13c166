import { elementCount } from '@rlp/onnx';
import { type CodedNumbers, codedBlock, codedNumbers, type ParameterStore } from '@rlp/onnx/runtime';
import type { TrainedParameter } from './update-rule.ts';

type Kernels = ParameterStore['kernels'];

/** Tensors of fewer numbers keep their moments in float32. */
const smallestLength = 4096;

/** Whether the moments of a parameter are kept in 8 bits. */
export function hasEightBitMoments({ shape }: Pick<TrainedParameter, 'shape'>): boolean {
  return elementCount(shape) >= smallestLength;
}

/** Bytes of a parameter's moments in memory. */
export function eightBitBytes({ shape }: Pick<TrainedParameter, 'shape'>): number {
  const length = elementCount(shape);
  return hasEightBitMoments({ shape }) ? 2 * (length + 4 * Math.ceil(length / codedBlock)) : 8 * length;
}

/** Tensors of a parameter's state in a checkpoint, shapes by name. Each number of `codes` holds three codes. */
export function eightBitState({ shape }: TrainedParameter): Readonly<Record<string, readonly number[]>> {
  if (!hasEightBitMoments({ shape })) return { moment1: shape, moment2: shape };
  const codes = [Math.ceil(elementCount(shape) / 3)];
  const scales = [Math.ceil(elementCount(shape) / codedBlock)];
  return { codes1: codes, scales1: scales, codes2: codes, scales2: scales };
}

/**
 * AdamW whose moments are kept in 8 bits, in blocks of 256 with a scale. It takes 2 bytes per weight instead of 8.
 *
 * An update is that of AdamW with the moments before they are rounded.
 *
 * @see Dettmers et al. 2022, https://arxiv.org/abs/2110.02861
 */
export class EightBitMoments {
  readonly #first: CodedNumbers;
  readonly #second: CodedNumbers;

  constructor(length: number) {
    this.#first = codedNumbers(length, 'signed');
    this.#second = codedNumbers(length, 'unsigned');
  }

  /** Updates `value` in place. */
  update(
    { adamwCoded }: Pick<Kernels, 'adamwCoded'>,
    { value, gradient }: Readonly<Record<'value' | 'gradient', Float32Array>>,
    step: Parameters<Kernels['adamwCoded']>[1],
  ): void {
    adamwCoded({ value, gradient, moment1: this.#first, moment2: this.#second }, step);
  }

  /** Copies by the names of {@link eightBitState}. */
  save(): Readonly<Record<string, Float32Array<ArrayBuffer>>> {
    return {
      codes1: packed(this.#first.codes),
      scales1: this.#first.scales.slice(),
      codes2: packed(this.#second.codes),
      scales2: this.#second.scales.slice(),
    };
  }

  /** Replaces the state by what {@link EightBitMoments.save} gave. */
  restore(state: Readonly<Record<string, Float32Array>>): void {
    unpack(state.codes1!, this.#first.codes);
    this.#first.scales.set(state.scales1!);
    unpack(state.codes2!, this.#second.codes);
    this.#second.scales.set(state.scales2!);
  }
}

/** Three codes in each number. float32 holds integers of 24 bits. */
function packed(codes: Uint8Array): Float32Array<ArrayBuffer> {
  return Float32Array.from(
    { length: Math.ceil(codes.length / 3) },
    (_, i) => codes[3 * i]! + ((codes[3 * i + 1] ?? 0) << 8) + ((codes[3 * i + 2] ?? 0) << 16),
  );
}

function unpack(numbers: Float32Array, into: Uint8Array): void {
  for (let i = 0; i < into.length; i++) {
    into[i] = numbers[Math.floor(i / 3)]! >>> (8 * (i % 3));
  }
}
