import { describe, expect, it } from 'vitest';
import { Evidence } from './evidence.ts';
import type { Reference } from './reference.ts';
import { rowLength, traitIndex, unknown } from './signals.ts';
import { initialState } from './state.ts';

/** A reference of 1000 responses per side, in which one in twenty has any trait. */
const reference = {
  isReady: () => true,
  known: () => 1000,
  shares: () => ({ rewarded: 0.05, others: 0.05 }),
  thresholds: (_: number, tails: readonly number[]) => tails.map(() => 1),
} as unknown as Reference;

/** Rewarded and unrewarded responses, of which the first ones are longer than usual. */
function batchOf(rewarded: number, longRewarded: number, others: number, longOthers: number) {
  const count = rewarded + others;
  const rows = new Uint8Array(count * rowLength).fill(unknown);
  for (let at = 0; at < count; at++) {
    const isLong = at < rewarded ? at < longRewarded : at - rewarded < longOthers;
    rows[at * rowLength + traitIndex.length] = isLong ? 2 : 0;
  }
  return {
    rows,
    weights: Float32Array.from({ length: count }, (_, at) => (at < rewarded ? 1 : -1)),
    clusters: { numbers: Uint32Array.from({ length: count }, (_, at) => at), of: 'neighbours' as const },
  };
}

function evidenceOf(...counts: Parameters<typeof batchOf>): number {
  const evidence = new Evidence(100, reference, initialState().evidence);
  evidence.prepare();
  evidence.gather(batchOf(...counts));
  return evidence.detections().find(({ name }) => name === 'length')?.evidence ?? 0;
}

/** Nats of 8 long responses of 10, if the share `before` was expected; φ is 1 + 0.02 · 10. */
function nats(before: number): number {
  const gains = [0.2, 0.4].map((shift) => {
    const after = before + shift * (1 - before);
    return 8 * Math.log(after / before) + 2 * Math.log((1 - after) / (1 - before));
  });
  return Math.max(...gains) / 1.2;
}

describe('Evidence', () => {
  it('expects the share of the reference with its margin, if unrewarded responses are as before', () => {
    const before = 0.05 + 1.5 * Math.sqrt((0.05 * 0.95) / 1000) + 1 / 1000;
    expect(evidenceOf(10, 8, 10, 0)).toBeCloseTo(nats(before), 9);
  });

  it('expects the drift of unrewarded responses, less half a standard error of their hits', () => {
    // Eight responses of the reference are counted beside the ten.
    const before = (6 - 0.5 * Math.sqrt(6) + 8 * 0.05) / 18;
    expect(evidenceOf(10, 8, 10, 6)).toBeCloseTo(nats(before), 9);
  });
});
