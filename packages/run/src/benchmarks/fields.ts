import { FormatError } from '@rlp/core';
import * as z from 'zod';
import type { BenchmarkRow } from './benchmark.ts';

/**
 * The fields of every row.
 *
 * @throws FormatError naming the first row that does not fit, and its fields.
 */
export function fieldsOf<Shape extends z.ZodRawShape>(
  rows: readonly BenchmarkRow[],
  shape: Shape,
  source: string,
): z.output<z.ZodObject<Shape>>[] {
  const schema = z.object(shape);
  return rows.map((row, index) => {
    const parsed = schema.safeParse(row);
    if (parsed.success) return parsed.data;
    const problems = parsed.error.issues
      .map(({ path, message }) => `${path.join('.')}: ${message}`)
      .join('; ');
    throw new FormatError(
      `${source}, row ${index + 1}: ${problems}; the row has ${Object.keys(row).join(', ')}`,
    );
  });
}

/** Id of a row: its own, or its place. */
export function idOf(row: BenchmarkRow, index: number): string {
  const own = row.id ?? row.task_id ?? row.key ?? row.ind;
  return typeof own === 'string' || typeof own === 'number' ? String(own) : String(index + 1);
}
