import { quantizedBlock } from '@rlp/onnx/layers';
import { pieceLength, weightKernel } from '../kernel/kernel.ts';
import { blockCount, type LayerShape } from './int8.ts';
import { nf4BlockCount, nf4Limits } from './nf4.ts';

/** Forms of a weight with less than 32 bits: 8 bits with one scale for 64 inputs, or 4-bit NormalFloat. */
export const quantizedForms = ['int8', 'nf4'] as const;

/** A form of {@link quantizedForms}. */
export type QuantizedForm = (typeof quantizedForms)[number];

export const blockCounts = { int8: blockCount, nf4: nf4BlockCount };
export const blockBytes = { int8: quantizedBlock, nf4: quantizedBlock / 2 };

/** Fills `target` with weights from the first one on, in the order `[outputs, inputs]`. */
export type ReadWeights = (target: Float32Array, first: number) => void;

/** Blocks of a layer to be rounded, from the first one on. */
export interface Blocks {
  readonly layer: LayerShape;
  readonly form: QuantizedForm;
  readonly first: number;
  /** Its length says how many blocks there are. */
  readonly scales: Float32Array;
  readonly bytes: Uint8Array;
}

/**
 * Rounds blocks of a weight, in pieces that a processor's cache holds.
 *
 * - 8 bits: `w ≈ scale · (byte − 128)`, where `scale = max |w| / 127` over a block of 64 inputs. No weight differs by more than half a
 *   scale. The last block of an output is filled up with zeros.
 * - 4 bits: `w ≈ scale · nf4Values[code]`, where `scale = max |w|` over 64 weights. No weight differs by more than 0.152 scales. The layout
 *   is that of bitsandbytes: blocks run through the weight from row to row, and the first of two codes is the upper half of a byte.
 *
 * A block with weights that are not finite has the scale NaN.
 */
export function roundBlocks(read: ReadWeights, { layer, form, first, scales, bytes }: Blocks): void {
  const kernel = weightKernel();
  const most = pieceLength / quantizedBlock;
  const length = rowLength(layer, form);
  for (let done = 0; done < scales.length; done += most) {
    const count = Math.min(most, scales.length - done);
    readBlocks(read, kernel.numbers, { length, first: first + done, count });
    const rounded = form === 'int8' ? kernel.roundInt8(count) : kernel.roundNf4(count, nf4Limits);
    bytes.set(rounded.bytes, done * blockBytes[form]);
    scales.set(rounded.scales, done);
  }
  if (form === 'nf4') clearTail(bytes, layer.inputs * layer.outputs - first * quantizedBlock);
}

/** Weights after which a block begins anew. */
function rowLength({ inputs, outputs }: LayerShape, form: QuantizedForm): number {
  return form === 'nf4' || inputs % quantizedBlock === 0 ? inputs * outputs : inputs;
}

/** Reads blocks of rows. The last block of a row is filled up with zeros. */
function readBlocks(
  read: ReadWeights,
  numbers: Float32Array,
  { length, first, count }: { readonly length: number; readonly first: number; readonly count: number },
): void {
  const perRow = Math.ceil(length / quantizedBlock);
  for (let block = first; block < first + count; ) {
    const within = block % perRow;
    const blocks = Math.min(perRow - within, first + count - block);
    const weights = Math.min(blocks * quantizedBlock, length - within * quantizedBlock);
    const at = (block - first) * quantizedBlock;
    read(numbers.subarray(at, at + weights), Math.floor(block / perRow) * length + within * quantizedBlock);
    numbers.fill(0, at + weights, at + blocks * quantizedBlock);
    block += blocks;
  }
}

/** Makes codes behind the last weight 0, as bitsandbytes does. */
function clearTail(bytes: Uint8Array, weights: number): void {
  const whole = Math.floor(weights / 2);
  if (whole >= bytes.length) return;
  bytes[whole]! &= weights % 2 === 0 ? 0 : 0xf0;
  bytes.fill(0, whole + 1);
}
