/** Losses in a row that have to be above the first one. Fewer may be hard batches. */
const inRow = 3;

const remedy = 'go back to an earlier checkpoint and lower the learning rate';

/** Watches whether the updates of a run over fixed data destroy the policy. */
export class UpdateHealth {
  #first: number | undefined;
  #above = 0;
  #state: 'watching' | 'said' = 'watching';

  /** What a person should know after an update. Says it once. */
  examine(loss: number, gradientNorm: number): string | undefined {
    if (this.#state === 'said') return undefined;
    this.#first ??= loss;
    this.#above = loss > 2 * this.#first + 1 ? this.#above + 1 : 0;
    const problem = this.#problem(loss, gradientNorm);
    if (problem === undefined) return undefined;
    this.#state = 'said';
    return `${problem}; ${remedy}`;
  }

  #problem(loss: number, gradientNorm: number): string | undefined {
    if (this.#above >= inRow) {
      return `the loss rose from ${rounded(this.#first!)} to ${rounded(loss)} and stays there: the updates are too large`;
    }
    // The first loss is that of weights that were not changed yet.
    if (gradientNorm === 0 && loss > this.#first!) {
      return `no gradient is left at a loss of ${rounded(loss)}, which was ${rounded(this.#first!)} at first: the updates were too large`;
    }
    return undefined;
  }
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}
