import { ThreadError } from '@rlp/sandbox/threads';
import type { RewardScope } from './protocol.ts';

/** Neighbouring rows of what was given. */
export interface Part<Row> {
  /** Place of its first row. */
  readonly start: number;
  readonly rows: readonly Row[];
}

/** A part with its scores, or why it has none. */
export interface ScoredPart<Row, Scores> extends Part<Row> {
  readonly answer?: Scores | undefined;
  readonly failure?: ThreadError | undefined;
}

interface PartOptions<Row, Scores> {
  /** `'group'`: all rows are one part. */
  readonly scope: RewardScope;
  /** Rows of a part at most. */
  readonly size: number;
  readonly ask: (part: Part<Row>) => Promise<Scores>;
}

/**
 * Asks about rows in parts, all at once, and again about each row by itself where a part failed. In order. Rejects with
 * what is no {@link ThreadError}.
 */
export async function inParts<Row, Scores>(
  rows: readonly Row[],
  { scope, size, ask }: PartOptions<Row, Scores>,
): Promise<readonly ScoredPart<Row, Scores>[]> {
  const scored = async (part: Part<Row>): Promise<readonly ScoredPart<Row, Scores>[]> => {
    try {
      return [{ ...part, answer: await ask(part) }];
    } catch (error) {
      if (!(error instanceof ThreadError)) throw error;
      if (scope === 'group' || part.rows.length === 1) return [{ ...part, failure: error }];
      return (await Promise.all(divided(part, 1).map(scored))).flat();
    }
  };
  if (rows.length === 0) return [];
  const whole = { start: 0, rows };
  return (await Promise.all((scope === 'group' ? [whole] : divided(whole, size)).map(scored))).flat();
}

function divided<Row>({ start, rows }: Part<Row>, size: number): readonly Part<Row>[] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, k) => ({
    start: start + k * size,
    rows: rows.slice(k * size, (k + 1) * size),
  }));
}
