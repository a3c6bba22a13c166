import { type Adamw, weightDecayOf } from '../optimizer/options.ts';
import { SlotOptimizer, type UpdateStep } from './slot-optimizer.ts';

/** Updates between two looks at a moment whether it has faded. Each looks at one part of this many, so none takes long. */
const fadingUpdates = 64;

/** Size below which a moment has faded. After 64 more updates it may be subnormal. */
const fadedBelow = 2 ** -100;

/** Clipping and AdamW by WebAssembly kernels, in place, for parameters in host memory. */
export class KernelOptimizer extends SlotOptimizer {
  async update({ learningRate, update, options, factor }: UpdateStep): Promise<void> {
    const { beta1, beta2, epsilon } = options as Adamw;
    const step = { learningRate, beta1, beta2, epsilon, update, gradientFactor: factor };
    for (const { state, weightDecay } of this.#pieces(options as Adamw)) {
      this.store.kernels.adamw(state, { ...step, weightDecay });
    }
    // Moments take hundreds of updates to fade.
    if (update > fadingUpdates) this.#clearFaded(update % fadingUpdates);
  }

  /**
   * Sets moments to 0 in a part of each segment that have faded, as those of values without a gradient do.
   *
   * With subnormal numbers some processors compute 10 to 40 times as long, and rounding keeps the smallest ones forever.
   */
  #clearFaded(part: number): void {
    const { store } = this;
    const seconds = store.segments('moment2');
    for (const [index, first] of store.segments('moment1').entries()) {
      const second = seconds[index]!;
      const [from, to] = [part, part + 1].map((at) => Math.floor((first.length * at) / fadingUpdates));
      for (let i = from!; i < to!; i++) {
        if (!(Math.abs(first[i]!) < fadedBelow)) continue;
        first[i] = 0;
        if (second[i]! < fadedBelow) second[i] = 0;
      }
    }
  }

  /** Whole memories if all parameters have the same decay, otherwise single parameters. */
  *#pieces(options: Adamw) {
    const { store } = this;
    const { decay, weightDecay } = options;
    if (decay === 'all' || weightDecay === 0) {
      const [values, gradients] = [store.segments(), store.segments('gradient')];
      const [first, second] = [store.segments('moment1'), store.segments('moment2')];
      for (const [i, value] of values.entries()) {
        yield {
          state: { value, gradient: gradients[i]!, moment1: first[i]!, moment2: second[i]! },
          weightDecay,
        };
      }
      return;
    }
    for (const { name, shape } of store.parameters) {
      const part = (slot?: string) => store.data(name, slot);
      const state = {
        value: part(),
        gradient: part('gradient'),
        moment1: part('moment1'),
        moment2: part('moment2'),
      };
      yield { state, weightDecay: weightDecayOf(options, shape) };
    }
  }
}
