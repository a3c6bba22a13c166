/**
 * How many of something there are, for people: `1 row`, `2 rows`.
 *
 * @param many - What several are called. Default: `one` with an s.
 */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
