import { ThreadError } from '@rlp/sandbox/threads';
import type { RewardScope } from './protocol.ts';

interface PartOptions<Row, Score> {
  /** `'group'`: all rows are one part. */
  readonly scope: RewardScope;
  /** Most rows of a part. */
  readonly size: number;
  readonly ask: (part: readonly Row[]) => Promise<readonly Score[]>;
}

/**
 * Asks about rows in parts, all at once, and again about each row alone if its part failed. Returns a score or an error per row, in order.
 * Rejects with anything that is not a {@link ThreadError}.
 */
export async function askInParts<Row, Score>(
  rows: readonly Row[],
  { scope, size, ask }: PartOptions<Row, Score>,
): Promise<readonly (Score | ThreadError)[]> {
  const asked = async (part: readonly Row[]): Promise<readonly (Score | ThreadError)[]> => {
    try {
      return await ask(part);
    } catch (error) {
      if (!(error instanceof ThreadError)) throw error;
      if (scope === 'group' || part.length === 1) return part.map(() => error);
      return (await Promise.all(part.map((row) => asked([row])))).flat();
    }
  };
  if (rows.length === 0) return [];
  const count = scope === 'group' ? 1 : Math.ceil(rows.length / size);
  const length = scope === 'group' ? rows.length : size;
  const parts = Array.from({ length: count }, (_, k) => rows.slice(k * length, (k + 1) * length));
  return (await Promise.all(parts.map(asked))).flat();
}
