import { Tensor } from '@rlp/onnx/runtime';
import type { MicroBatch } from '../batch/fill.ts';
import { type GradientSums, totalBefore } from '../program-protocol.ts';
import { GradientAccumulator, type GradientTensors } from './gradient-accumulator.ts';
import { blockTensor, type CompiledGraph } from './program-graphs.ts';

/** Parameters from which a single micro-batch has a graph of its own. The first total of zeros took 2.5 % of a step of 135 million. */
const manyParameters = 2 ** 23;

/**
 * Accumulated gradient in host memory.
 *
 * A run reads the gradient so far and writes the new one in its place. Rows of tables are added afterwards. No memory is cleared
 * before the first micro-batch.
 */
export class HostGradient extends GradientAccumulator {
  readonly #rows = new Map<string, Float32Array<ArrayBuffer>>();

  sumsOf(microBatches: number): GradientSums {
    const isFirst = this.state === 'empty' && microBatches <= 1;
    const count = this.store.segments('gradient').reduce((sum, { length }) => sum + length, 0);
    return isFirst && count >= manyParameters ? 'alone' : 'added';
  }

  tensors({ plan }: CompiledGraph, batch: MicroBatch): GradientTensors {
    const into: Record<string, Tensor> = {};
    for (const [parameter, output] of Object.entries(plan.gradients)) {
      into[output] = this.store.tensor(parameter, 'gradient');
    }
    for (const block of plan.blocks) {
      if (block.output !== undefined) into[block.output] = blockTensor(this.store, block, 'gradient');
    }
    const summed = plan.sums === 'added' ? Object.entries(into) : [];
    const totals = summed.map(([output, total]) => {
      return [totalBefore(output), this.state === 'filled' ? total : zeroFor(total)] as const;
    });
    for (const { output, indices, width } of plan.scattered) {
      const shape = [batch[indices].length, width];
      into[output] = new Tensor('float32', this.#rowsFor(output, shape[0]! * width), shape);
    }
    return { feeds: Object.fromEntries(totals), into };
  }

  async add({ plan }: CompiledGraph, batch: MicroBatch): Promise<void> {
    if (this.state === 'empty') {
      const inBlocks = plan.blocks.filter(({ output }) => output !== undefined);
      const written = new Set([
        ...Object.keys(plan.gradients),
        ...inBlocks.map(({ parameter }) => parameter),
      ]);
      for (const { name } of this.store.parameters) {
        if (!written.has(name)) this.store.data(name, 'gradient').fill(0);
      }
    }
    for (const { parameter, output, indices, width } of plan.scattered) {
      const rows = this.#rowsFor(output, batch[indices].length * width);
      this.store.kernels.scatterAddRows(this.store.data(parameter, 'gradient'), rows, batch[indices]);
    }
    this.filled();
  }

  protected zero(): void {
    for (const segment of this.store.segments('gradient')) segment.fill(0);
  }

  protected sumOfSquares(): number {
    const sums = this.store.segments('gradient').map((segment) => this.store.kernels.sumOfSquares(segment));
    return sums.reduce((total, sum) => total + sum, 0);
  }

  /** Buffer of an output whose rows are added here. Grows to the largest micro-batch. */
  #rowsFor(output: string, size: number): Float32Array<ArrayBuffer> {
    const known = this.#rows.get(output);
    const buffer = known && known.length >= size ? known : new Float32Array(size);
    this.#rows.set(output, buffer);
    return buffer.subarray(0, size);
  }
}

/** One 0 that is added to all numbers of a tensor. */
function zeroFor({ dims }: Tensor): Tensor {
  return new Tensor(
    'float32',
    new Float32Array(1),
    dims.map(() => 1),
  );
}
