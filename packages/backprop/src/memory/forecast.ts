import type { BatchSize, MemoryForecast } from '@rlp/core';
import type { ResolvedOnnxBackendOptions } from '../backend-options.ts';
import { availableMemory } from './available-memory.ts';
import { estimateMemory, type MemoryQuestion } from './estimate-memory.ts';

const remedy =
  "lower tokensPerMicroBatch, train a correction with `lora: { base: 'int8' }`, or set activations: 'recompute' or reference: 'none'";

/**
 * What a backend will take of the machine's memory. Unknown for devices that have their own memory, and in a page.
 *
 * Keeps nothing of the model but its shape, and does not count the caller's copy, which may be freed.
 *
 * @param lora - Rank and kind of the correction, and how what it corrects is stored. `undefined` if every weight is trained.
 */
export function memoryForecast(
  {
    engine,
    model,
    tokensPerMicroBatch,
    activations,
    precision,
    reference,
    optimizer,
  }: ResolvedOnnxBackendOptions,
  lora: MemoryQuestion['lora'],
): (batch: BatchSize) => MemoryForecast | undefined {
  const { executionProvider } = engine;
  const { config } = model;
  return ({ sequences, tokens }) => {
    // A page is not told what it may take.
    if (executionProvider !== 'cpu' || typeof process === 'undefined') return undefined;
    const length = Math.max(1, Math.min(tokens, config.contextLength));
    const rows = Math.max(1, Math.min(sequences, Math.floor(tokensPerMicroBatch / length)));
    const estimate = estimateMemory({
      ...{ config, rows, length, activations, precision, reference, optimizer, lora },
    });
    const { model: _copy, total: _total, loading: _loading, table: _table, ...bytes } = estimate;
    return { bytes, held: process.memoryUsage.rss(), available: availableMemory(), remedy };
  };
}
