/** How many rows a stage learns from, and how. */
interface Passes {
  readonly rows: number;
  readonly perBatch: number;
  readonly epochs?: number | undefined;
  readonly updates?: number | undefined;
}

/** Updates of a stage over fixed data. The last batch of an epoch may be smaller. */
export function updatesOf({ rows, perBatch, epochs = 1, updates }: Passes): number {
  const whole = Math.floor(epochs);
  return updates ?? whole * Math.ceil(rows / perBatch) + Math.ceil(((epochs - whole) * rows) / perBatch);
}
