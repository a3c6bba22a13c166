import { RandomStream } from '@rlp/core';
import type { DatasetBatches, DatasetEntry } from './dataset-entry.ts';

/** Shuffles through a buffer of rows. */
export async function* shuffledBatches<Row>(
  batches: DatasetBatches<Row>,
  { seed, epoch, buffer: size }: { readonly seed: string; readonly epoch: number; readonly buffer: number },
): DatasetBatches<Row> {
  const random = RandomStream.named(seed, 'dataset', epoch);
  const buffer: DatasetEntry<Row>[] = [];
  for await (const batch of batches) {
    const left: DatasetEntry<Row>[] = [];
    for (const entry of batch) {
      if (buffer.length < size) {
        buffer.push(entry);
        continue;
      }
      const at = random.integer(size);
      left.push(buffer[at]!);
      buffer[at] = entry;
    }
    yield left;
  }
  yield random.shuffle(buffer);
}
