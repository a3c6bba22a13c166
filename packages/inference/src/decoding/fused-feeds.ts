import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import { inverseTemperatures, longestOf, outputRows, type StepInputs } from './step-inputs.ts';

/** Parts in which a single row's tokens attend. Fewer leave more hidden keys, and more have too few queries each. */
export const attentionParts = 4;

/**
 * Inputs of `fusedGraph`, without the cache and the parameters. Rows are padded on the right.
 *
 * @param names - Inputs of the graph. `rows` and `positions` are computed only if they are among them.
 * @param held - Positions that each row's cache holds before the step. Default: one for each of its tokens.
 */
export function fusedFeeds(
  inputs: StepInputs,
  names: readonly string[],
  contextLength: number,
  held: readonly number[] = inputs.lengths,
): Tensors {
  const { tokens, lengths } = inputs;
  const count = tokens.length;
  const time = longestOf(inputs);
  const ids = new BigInt64Array(count * time);
  for (const [row, added] of tokens.entries()) ids.set(added.map(BigInt), row * time);
  const lastPositions = tokens.map((added, row) => held[row]! + added.length - 1);
  const feeds: Record<string, Tensor> = {
    tokens: new Tensor('int64', ids, [count, time]),
    total: new Tensor('int32', Int32Array.of(Math.max(...lastPositions) + 1), [1]),
    inverse_temperature: inverseTemperatures(inputs),
  };
  if (names.includes('part_sizes')) Object.assign(feeds, partFeeds(time, held[0]!));
  else feeds.last_positions = new Tensor('int32', Int32Array.from(lastPositions), [count]);
  if (names.includes('rows')) feeds.rows = outputRows(inputs, time);
  if (names.includes('positions')) {
    const position = (index: number) =>
      Math.min(lengths[Math.floor(index / time)]! + (index % time), contextLength - 1);
    const positions = BigInt64Array.from(ids, (_, index) => BigInt(position(index)));
    feeds.positions = new Tensor('int64', positions, [count, time]);
  }
  return feeds;
}

/** Nearly equal parts of a single row's tokens. */
function partFeeds(time: number, held: number): Tensors {
  const ends = Array.from({ length: attentionParts }, (_, part) =>
    Math.floor((time * (part + 1)) / attentionParts),
  );
  const sizes = ends.map((end, part) => BigInt(end - (ends[part - 1] ?? 0)));
  return {
    part_sizes: new Tensor('int64', BigInt64Array.from(sizes), [attentionParts]),
    part_last_positions: new Tensor(
      'int32',
      Int32Array.from(ends, (end) => held + end - 1),
      [attentionParts],
    ),
  };
}
