import { ArgumentError, type RandomStream } from '@rlp/core';

/** An integer from `low` at difficulty 0 to `high` at difficulty 1. */
export function scaled(difficulty: number, low: number, high: number): number {
  return Math.round(low + (high - low) * difficulty);
}

/** One of the items. */
export function pick<Item>(random: RandomStream, items: readonly Item[]): Item {
  if (items.length === 0) throw new ArgumentError('pick: expected at least one item, got an empty list');
  return items[random.integer(items.length)]!;
}

/** An integer from `low` to `high`, both included. */
export function between(random: RandomStream, low: number, high: number): number {
  return low + random.integer(high - low + 1);
}
