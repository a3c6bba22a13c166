import { ArgumentError, requireArguments } from '@rlp/core';

/**
 * Rows of every group, in the order of their first rows.
 *
 *     groupIndices(['b', 'a', 'b']) → [[0, 2], [1]]
 *
 * For batches with an id per row that names its group. Rows of a group need not be contiguous. Gather with it, compute per
 * group, and put the results back with {@link scatterGroups}.
 */
export function groupIndices(ids: readonly unknown[]): number[][] {
  requireArguments('groupIndices', { ids: 'list' }, ids);
  const rows = new Map<unknown, number[]>();
  for (const [row, id] of ids.entries()) {
    const members = rows.get(id);
    if (members) members.push(row);
    else rows.set(id, [row]);
  }
  return [...rows.values()];
}

/**
 * One number per row from one per member: the way back from {@link groupIndices}. Shape `[P][G]` to `[B]`.
 *
 * @throws ArgumentError unless there is one value per index.
 */
export function scatterGroups(
  indices: readonly (readonly number[])[],
  values: readonly ArrayLike<number>[],
): Float64Array {
  requireArguments('scatterGroups', { indices: 'lists', values: 'lists' }, indices, values);
  let count = 0;
  for (const { length } of indices) count += length;
  const result = new Float64Array(count);
  for (const [p, members] of indices.entries()) {
    if (values[p]?.length !== members.length) {
      throw new ArgumentError(
        `scatterGroups: values[${p}] must have ${members.length} entries, as indices[${p}], got ${values[p]?.length ?? 'none'}`,
      );
    }
    for (const [g, row] of members.entries()) result[row] = values[p]![g]!;
  }
  return result;
}
