import { Dataset } from './dataset.ts';
import { type DatasetBatches, DatasetEntry } from './dataset-entry.ts';

/** The rows of several datasets, one after the other. Their numbers go on. */
export function joined<Row>(name: string, parts: readonly Dataset<Row>[]): Dataset<Row> {
  if (parts.length === 1) return parts[0]!;
  const count = async () => {
    let rows = 0;
    for (const part of parts) rows += await part.count();
    return rows;
  };
  return new Dataset({ name, open: (skip) => joinedBatches(parts, skip), count });
}

async function* joinedBatches<Row>(parts: readonly Dataset<Row>[], skip: number): DatasetBatches<Row> {
  let number = 0;
  for (const part of parts) {
    const rows = number < skip ? await part.count() : Number.POSITIVE_INFINITY;
    if (number + rows <= skip) {
      number += rows;
      continue;
    }
    const cursor = Math.max(0, skip - number);
    number += cursor;
    for await (const batch of part.batches({ cursor })) {
      yield batch.map((entry) => new DatasetEntry(entry.row, { ...entry, number: ++number }));
    }
  }
}
