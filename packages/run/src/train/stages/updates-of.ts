import type { resolvePreferenceOptions } from '@rlp/algorithms/preference';

type Length = Pick<ReturnType<typeof resolvePreferenceOptions>, 'pairsPerBatch' | 'epochs' | 'updates'>;

/** Updates of a stage that learns from pairs. The last batch of an epoch may be smaller. */
export function updatesOf(rows: number, { pairsPerBatch, epochs = 1, updates }: Length): number {
  const whole = Math.floor(epochs);
  const rest = (epochs - whole) * rows;
  return updates ?? whole * Math.ceil(rows / pairsPerBatch) + Math.ceil(rest / pairsPerBatch);
}
