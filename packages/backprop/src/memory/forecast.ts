import { type Loss, type MemoryForecast, requireArguments, type TrainingSequence } from '@rlp/core';
import type { ResolvedOnnxBackendOptions } from '../backend-options.ts';
import type { PackingOptions } from '../batch/packing.ts';
import { availableMemory } from './available-memory.ts';
import { estimateUpdate, type MemoryShape } from './estimate-memory.ts';

const remedy =
  "lower tokensPerMicroBatch, train a correction with `lora: { base: 'int8' }`, or set activations: 'recompute' or reference: 'none'";

/** What `forecastMemory` of a backend does. */
export type ForecastMemory = (
  sequences: readonly Pick<TrainingSequence, 'tokens' | 'mask'>[],
  loss?: Pick<Loss, 'sequencesPerRow' | 'values'>,
) => MemoryForecast | undefined;

/**
 * What a backend will take of the machine's memory. Unknown for devices that have their own memory, and in a page.
 *
 * Keeps nothing of the model but its shape. The caller's copy of a small model counts, because it is seldom freed before the peak.
 *
 * @param options - How the backend divides batches into micro-batches.
 * @param lora - Rank and kind of the correction, and how what it corrects is stored. `undefined` if every weight is trained.
 */
export function memoryForecast(
  { engine, model, activations, precision, reference, optimizer }: ResolvedOnnxBackendOptions,
  options: PackingOptions,
  lora: MemoryShape['lora'],
): ForecastMemory {
  const { executionProvider } = engine;
  const { config } = model;
  const shape = { config, activations, precision, reference, optimizer, lora };
  return (sequences, { sequencesPerRow, values } = {}) => {
    requireArguments('forecastMemory', { sequences: 'objects' }, sequences);
    // A page is not told what it may take.
    if (executionProvider !== 'cpu' || typeof process === 'undefined') return undefined;
    const purpose = values === 'only' ? 'critic' : 'policy';
    const estimate = estimateUpdate({ ...shape, purpose }, sequences, options, sequencesPerRow);
    const { total: _total, loading: _loading, table: _table, ...bytes } = estimate;
    return { bytes, held: process.memoryUsage.rss(), available: availableMemory(), remedy };
  };
}
