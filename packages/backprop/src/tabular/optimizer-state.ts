import { adamw } from '../optimizer/optimizer.ts';

/** How {@link OptimizerState.update} moves weights. */
export interface TabularUpdate {
  readonly optimizer: 'adam' | 'sgd';
  readonly learningRate: number;
  /** Factor of the gradient, from clipping. */
  readonly scale: number;
  /** 1 for the first update. */
  readonly update: number;
}

/** Accumulated gradient and Adam's moments of one array of weights. */
export class OptimizerState {
  readonly gradient: Float64Array;
  moment1: Float64Array;
  moment2: Float64Array;

  constructor(cells: number) {
    this.gradient = new Float64Array(cells);
    this.moment1 = new Float64Array(cells);
    this.moment2 = new Float64Array(cells);
  }

  /** Moves `weights` by the accumulated gradient, which is spent afterwards. */
  update(weights: Float32Array, { optimizer, learningRate, scale, update }: TabularUpdate): void {
    const { gradient } = this;
    for (let cell = 0; cell < gradient.length; cell++) gradient[cell]! *= scale;
    if (optimizer === 'sgd') {
      for (let cell = 0; cell < weights.length; cell++) weights[cell]! -= learningRate * gradient[cell]!;
    } else {
      adamw(weights, gradient, this, {
        learningRate,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        weightDecay: 0,
        update,
      });
    }
    gradient.fill(0);
  }

  /** Takes over saved moments; the gradient is cleared. */
  restore({ moment1, moment2 }: { readonly moment1: number[]; readonly moment2: number[] }): void {
    this.moment1 = Float64Array.from(moment1);
    this.moment2 = Float64Array.from(moment2);
    this.gradient.fill(0);
  }
}
