import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { MicroBatch } from '../batch/fill.ts';
import { GradientAccumulator } from './gradient-accumulator.ts';
import { blockTensor, type CompiledGraph } from './program-graphs.ts';

/** Accumulated gradient in host memory. No memory is cleared before the first micro-batch. */
export class HostGradient extends GradientAccumulator {
  readonly #rows = new Map<string, Float32Array<ArrayBuffer>>();

  outputs({ plan }: CompiledGraph, batch: MicroBatch): Tensors {
    const { store, slot } = this.target();
    const into: Record<string, Tensor> = {};
    for (const [parameter, output] of Object.entries(plan.gradients)) {
      into[output] = store.tensor(parameter, slot);
    }
    for (const block of plan.blocks) {
      if (block.output !== undefined) into[block.output] = blockTensor(store, block, slot);
    }
    for (const { output, indices, width } of plan.scattered) {
      const shape = [batch[indices].length, width];
      into[output] = new Tensor('float32', this.#rowsFor(output, shape[0]! * width), shape);
    }
    return into;
  }

  async add({ plan }: CompiledGraph, batch: MicroBatch): Promise<void> {
    const { kernels } = this.store;
    const inBlocks = plan.blocks.filter(({ output }) => output !== undefined);
    const written = new Set([...Object.keys(plan.gradients), ...inBlocks.map(({ parameter }) => parameter)]);
    for (const { name } of this.store.parameters) {
      const whole = written.has(name);
      if (this.state === 'empty' && !whole) this.store.data(name, 'gradient').fill(0);
      if (this.state === 'filled' && whole) {
        kernels.combine(this.store.data(name, 'gradient'), 1, this.scratch!.data(name), 1);
      }
    }
    for (const { parameter, output, indices, width } of plan.scattered) {
      const rows = this.#rowsFor(output, batch[indices].length * width);
      kernels.scatterAddRows(this.store.data(parameter, 'gradient'), rows, batch[indices]);
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
