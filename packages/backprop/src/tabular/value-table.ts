import { ArgumentError, type TokenId } from '@rlp/core';
import type { Evaluation } from '@rlp/tensor';
import type { ScoredBatch, StateValues } from './batch.ts';
import type { TabularCheckpoint } from './checkpoint.ts';
import { OptimizerState } from './optimizer-state.ts';
import type { LogitsTable } from './table.ts';

/** A critic with one value per context of the last n tokens: V(s) of the state that selects the policy's row. */
export class ValueTable implements StateValues {
  /** Values. Start at 0. Shape: `[(V + 1)^n]`. */
  readonly values: Float32Array;
  readonly state: OptimizerState;
  readonly #table: LogitsTable;

  constructor(table: LogitsTable) {
    this.#table = table;
    this.values = new Float32Array((table.vocabularySize + 1) ** table.contextTokens);
    this.state = new OptimizerState(this.values.length);
  }

  /** Values of the states before each token and after the last. The empty state has 0. Shape: `[T + 1]`. */
  ofSequence(tokens: readonly TokenId[]): Float32Array {
    this.#table.checkTokens('values', tokens);
    const row = (t: number) => this.#table.rowOf(tokens, t);
    return Float32Array.from({ length: tokens.length + 1 }, (_, t) => (t === 0 ? 0 : this.ofRow(row(t))));
  }

  ofRow(row: number): number {
    return this.values[row / this.#table.vocabularySize]!;
  }

  /** Adds the gradient of a batch's loss by the values to the gradient of the table. */
  accumulate({ positions }: ScoredBatch, { gradients }: Evaluation): void {
    const { values } = gradients;
    if (values === undefined) return;
    for (const [b, row] of positions.entries()) {
      for (const [t, position] of row.entries()) {
        if (position === undefined) continue;
        const state = position.row / this.#table.vocabularySize;
        this.state.gradient[state]! += values.data[b * values.columns + t]!;
      }
    }
  }

  /** State for a checkpoint. */
  save(): NonNullable<TabularCheckpoint['valueHead']> {
    const { moment1, moment2 } = this.state;
    return { values: [...this.values], moment1: [...moment1], moment2: [...moment2] };
  }

  /** Restores the state from {@link ValueTable.save}. */
  restore(saved: NonNullable<TabularCheckpoint['valueHead']>): void {
    this.values.set(saved.values);
    this.state.restore(saved);
  }
}

/** Throws an ArgumentError unless checkpoint and backend both have a value head, or neither. */
export function checkSavedHead(
  directory: string,
  { valueHead }: TabularCheckpoint,
  table: ValueTable | undefined,
): void {
  if ((valueHead === undefined) === (table === undefined)) return;
  const [saved, own] = valueHead === undefined ? ['no', 'one'] : ['a', 'none'];
  throw new ArgumentError(
    `loadCheckpoint: ${directory} holds ${saved} value head, this backend has ${own}; create it with ` +
      `valueHead: '${valueHead === undefined ? 'none' : 'linear'}'`,
  );
}
