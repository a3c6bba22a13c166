/** Where a {@link LossScale} stands. */
export interface LossScaleState {
  readonly factor: number;
  /** Updates in a row whose gradient was finite, since the factor changed. */
  readonly finite: number;
}

const initial: LossScaleState = { factor: 2 ** 16, finite: 0 };
/** Finite gradients in a row after which the factor doubles. */
const patience = 2000;

/**
 * Factor of the loss that keeps small gradients from vanishing in float16, a power of two.
 *
 * It starts at 2^16, is halved when a gradient overflows, but not below 1, and doubles after 2,000 finite ones.
 *
 * @see Micikevicius et al. 2018, https://arxiv.org/abs/1710.03740
 */
export class LossScale {
  #state = initial;

  get factor(): number {
    return this.#state.factor;
  }

  get state(): LossScaleState {
    return this.#state;
  }

  /** Takes what became of a gradient. */
  adapt(gradient: 'finite' | 'overflow'): void {
    const { factor, finite } = this.#state;
    if (gradient === 'overflow') this.#state = { factor: Math.max(1, factor / 2), finite: 0 };
    else if (finite + 1 < patience) this.#state = { factor, finite: finite + 1 };
    else this.#state = { factor: Math.min(2 ** 24, factor * 2), finite: 0 };
  }

  /** Goes on from a saved state. Default: from the beginning. */
  restore(state: LossScaleState = initial): void {
    this.#state = state;
  }
}
