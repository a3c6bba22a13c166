import { adamw } from '../optimizer/optimizer.ts';

/** Settings of one {@link OptimizerState.update}. */
export interface TabularUpdate {
  readonly optimizer: 'adam' | 'sgd';
  readonly learningRate: number;
  /** Factor of the gradient, from clipping. */
  readonly scale: number;
  /** Number of the update. 1 for the first. */
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

  /** Updates `weights` with the accumulated gradient and clears it. */
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

  /** Restores saved moments and clears the gradient. */
  restore({ moment1, moment2 }: { readonly moment1: number[]; readonly moment2: number[] }): void {
    this.moment1 = Float64Array.from(moment1);
    this.moment2 = Float64Array.from(moment2);
    this.gradient.fill(0);
  }
}
