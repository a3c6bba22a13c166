import type { ScoreRequest } from '@rlp/core';

/** Results of a batch that belong to one request. */
interface ScorePart {
  /** Index of the request. */
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/** Requests that are computed together, padded on the right. */
export interface ScoreBatch {
  readonly parts: readonly ScorePart[];
  readonly count: number;
  readonly time: number;
  /** Shape: `[count, time]`. */
  readonly tokens: BigInt64Array;
  /** Shape: `[count, time]`. */
  readonly positions: BigInt64Array;
  /** Index of each completion token's distribution among `count · time`. */
  readonly rows: BigInt64Array;
  /** The completion tokens. As many as `rows`. */
  readonly targets: BigInt64Array;
}

/** Tokens of a request to compute. The last one predicts nothing that is wanted. */
function lengthOf({ prompt, completion }: ScoreRequest): number {
  return prompt.length + completion.length - 1;
}

/**
 * Sorts requests by length and cuts them into batches of at most `budget` tokens, padding included. Leaves out requests without a
 * completion.
 */
export function scoreBatches(requests: readonly ScoreRequest[], budget: number): ScoreBatch[] {
  const order = [...requests.keys()]
    .filter((index) => requests[index]!.completion.length > 0)
    .sort((a, b) => lengthOf(requests[b]!) - lengthOf(requests[a]!) || a - b);
  const batches: ScoreBatch[] = [];
  while (order.length > 0) {
    const longest = lengthOf(requests[order[0]!]!);
    const indices = order.splice(0, Math.max(1, Math.floor(budget / longest)));
    batches.push(layOut(requests, indices, longest));
  }
  return batches;
}

function layOut(requests: readonly ScoreRequest[], indices: readonly number[], time: number): ScoreBatch {
  const tokens = new BigInt64Array(indices.length * time);
  const positions = BigInt64Array.from(tokens, (_, index) => BigInt(index % time));
  const rows: bigint[] = [];
  const targets: bigint[] = [];
  const parts = indices.map((index, row) => {
    const { prompt, completion } = requests[index]!;
    const sequence = [...prompt, ...completion];
    for (const [position, token] of sequence.slice(0, -1).entries()) {
      tokens[row * time + position] = BigInt(token);
    }
    const from = rows.length;
    for (const [offset, token] of completion.entries()) {
      rows.push(BigInt(row * time + prompt.length - 1 + offset));
      targets.push(BigInt(token));
    }
    return { index, from, to: rows.length };
  });
  return {
    parts,
    count: indices.length,
    time,
    tokens,
    positions,
    rows: BigInt64Array.from(rows),
    targets: BigInt64Array.from(targets),
  };
}
