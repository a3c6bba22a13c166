import type { TrainingBackend } from '@rlp/core';
import { type FactoredRow, rowSums } from './row-scores.ts';

/** Sums of log-probabilities under the reference policy, each computed once while that policy rests. */
export class ReferenceScores {
  readonly #known = new Map<string, number>();

  /** Forgets every sum, because the reference policy moved. */
  forget(): void {
    this.#known.clear();
  }

  /**
   * Scored sums of rows.
   *
   * @param names - Name of each row in this run. A row without a name is computed each time.
   * @param sequencesPerRow - Of the loss that compares them with the policy's. Rounding of both then cancels.
   */
  async of(
    backend: TrainingBackend,
    rows: readonly FactoredRow[],
    names: readonly (string | undefined)[],
    sequencesPerRow?: number,
  ): Promise<Float64Array> {
    const missing = rows.flatMap((row, index) => {
      const name = names[index];
      return name !== undefined && this.#known.has(name) ? [] : [{ row, index, name }];
    });
    const sums = Float64Array.from(names, (name) => (name === undefined ? 0 : (this.#known.get(name) ?? 0)));
    if (missing.length === 0) return sums;
    const tokens = missing.map(({ row }) => row.tokens);
    const masks = missing.map(({ row }) => row.mask);
    const scores = await backend.logprobs(tokens, {
      policy: 'reference',
      masks,
      ...(sequencesPerRow !== undefined && { sequencesPerRow }),
    });
    for (const [place, { row, index, name }] of missing.entries()) {
      const { scored } = rowSums(row, scores[place]!);
      sums[index] = scored;
      if (name !== undefined) this.#known.set(name, scored);
    }
    return sums;
  }
}
