/**
 * Works on rows in order, with at most `concurrency` that are waited for at once. A lane runs until it has to wait, so that work which
 * is done at once needs only one. Rejects as soon as a row does.
 */
export async function inLanes<Result>(
  rows: number,
  concurrency: number,
  work: (row: number) => Result | Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(rows);
  let next = 0;
  const lane = async () => {
    for (let row = next++; row < rows; row = next++) {
      const result = work(row);
      results[row] = result instanceof Promise ? await result : result;
    }
  };
  const lanes: Promise<void>[] = [];
  while (lanes.length < concurrency && next < rows) lanes.push(lane());
  await Promise.all(lanes);
  return results;
}
