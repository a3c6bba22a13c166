import type { MemoryForecast, TrainingSequence } from '@rlp/core';
import { plural } from '@rlp/core';

/** Share of the free memory from which a run is told. */
const noteShare = 0.85;
/** Share from which it stops: an estimate may be a tenth too high. */
const stopShare = 1.1;

/**
 * Compares the memory of an update with what is free. Returns `undefined` if it fits, or without a forecast.
 *
 * @param sampler - Bytes that the sampler takes beside, by purpose.
 */
export function memoryOf(
  forecast: MemoryForecast | undefined,
  sequences: readonly Pick<TrainingSequence, 'tokens' | 'mask'>[],
  sampler: Readonly<Record<string, number>> = {},
):
  | { readonly outcome: 'tight' | 'too-much'; readonly sentence: string; readonly remedy: string }
  | undefined {
  if (forecast === undefined) return undefined;
  const { available, remedy } = forecast;
  const bytes = { ...forecast.bytes, ...sampler };
  const more = Object.values(bytes).reduce((sum, value) => sum + value, 0) - forecast.held;
  if (more <= noteShare * available) return undefined;
  const parts = Object.entries(bytes).filter(([, value]) => value > 0.02 * more);
  const longest = sequences.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
  const sentence =
    `updates with ${plural(sequences.length, 'sequence')} of up to ${plural(longest, 'token')} take about ${gib(more)} more memory than the process ` +
    `has, and ${gib(available)} are free (${parts.map(([name, value]) => `${name} ${gib(value)}`).join(', ')})`;
  return { outcome: more <= stopShare * available ? 'tight' : 'too-much', sentence, remedy };
}

function gib(value: number): string {
  return `${(value / 2 ** 30).toFixed(2)} GiB`;
}
