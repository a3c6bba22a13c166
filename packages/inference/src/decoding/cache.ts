import { EngineError } from '@rlp/core';
import type { ModelConfig } from '@rlp/models';
import { Tensor } from '@rlp/onnx/runtime';

/** Keys and values of several sequences in host memory. Shape per layer: `[rows, keyValueHeads, positions, headDimension]`. */
export class KeyValueCache {
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
  /** Heads of keys and values. */
  readonly heads: number;
  /** Positions of a row. */
  readonly positions: number;
  /** Numbers of a head at one position. */
  readonly width: number;

  /** @throws EngineError if they need more memory than the machine has. */
  constructor(config: ModelConfig, rows: number, positions: number) {
    this.heads = config.keyValueHeads;
    this.positions = positions;
    this.width = config.headDimension;
    const arrays = () => Array.from({ length: config.layers }, () => new Float32Array(rows * this.#rowSize));
    try {
      this.keys = arrays();
      this.values = arrays();
    } catch (cause) {
      const gib = (2 * config.layers * rows * this.#rowSize * 4) / 2 ** 30;
      throw new EngineError(
        `the key-value cache of ${rows} sequences of ${positions} tokens takes ${gib.toFixed(1)} GiB, which could not be allocated; lower maxSequences or contextLength`,
        { cause },
      );
    }
  }

  get #rowSize(): number {
    return this.heads * this.positions * this.width;
  }

  /** A tensor over rows `first` … `first + count − 1` of one of the arrays. */
  tensor(array: Float32Array, first: number, count: number): Tensor {
    const rows = array.subarray(first * this.#rowSize, (first + count) * this.#rowSize);
    return new Tensor('float32', rows, [count, this.heads, this.positions, this.width]);
  }

  /** Copies the first `length` positions of a row over another row. */
  copyRow(from: number, to: number, length: number): void {
    const head = this.positions * this.width;
    for (const array of [...this.keys, ...this.values]) {
      for (let index = 0; index < this.heads; index++) {
        const source = from * this.#rowSize + index * head;
        array.copyWithin(to * this.#rowSize + index * head, source, source + length * this.width);
      }
    }
  }

  /** Moves everything from position `from` on to position `to`, as far as the row has room. */
  shiftRow(row: number, from: number, to: number): void {
    const end = this.positions - Math.max(0, to - from);
    for (let head = row * this.heads; head < (row + 1) * this.heads; head++) {
      const start = head * this.positions;
      for (const array of [...this.keys, ...this.values]) {
        const [target, first, last] = [start + to, start + from, start + end];
        array.copyWithin(target * this.width, first * this.width, last * this.width);
      }
    }
  }

  /** Sets the first position of a row to zeros. */
  clearFirst(row: number): void {
    for (let head = row * this.heads; head < (row + 1) * this.heads; head++) {
      const start = head * this.positions * this.width;
      for (const array of [...this.keys, ...this.values]) array.fill(0, start, start + this.width);
    }
  }

  /** Bytes of one position of a row. */
  get positionBytes(): number {
    const arrays = this.keys.length + this.values.length;
    return arrays * this.heads * this.width * Float32Array.BYTES_PER_ELEMENT;
  }

  /** Copies positions of a row, from `position` on, into `block` or back. As many as the block has room for. */
  moveBlock(direction: 'save' | 'load', row: number, position: number, block: Float32Array): void {
    const arrays = [...this.keys, ...this.values];
    const size = block.length / (arrays.length * this.heads);
    let at = 0;
    for (const array of arrays) {
      for (let head = 0; head < this.heads; head++) {
        const start = row * this.#rowSize + (head * this.positions + position) * this.width;
        if (direction === 'save') block.set(array.subarray(start, start + size), at);
        else array.set(block.subarray(at, at + size), start);
        at += size;
      }
    }
  }

  /**
   * Writes what a step computed: `[count, keyValueHeads, time, headDimension]` into the rows from `firstRow` on, each at
   * its own position. Positions past the end are left out.
   */
  write(array: Float32Array, computed: Float32Array, firstRow: number, positions: readonly number[]): void {
    const time = computed.length / (positions.length * this.heads * this.width);
    for (const [index, position] of positions.entries()) {
      const fitting = Math.min(time, this.positions - position);
      for (let head = 0; head < this.heads; head++) {
        const source = (index * this.heads + head) * time * this.width;
        const target = (firstRow + index) * this.#rowSize + (head * this.positions + position) * this.width;
        array.set(computed.subarray(source, source + fitting * this.width), target);
      }
    }
  }
}
