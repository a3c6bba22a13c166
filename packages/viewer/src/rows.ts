import type { Row } from './payload.ts';

/** What the list can be sorted by. */
export const sortKeys = ['order', 'reward', 'tokens', 'steps', 'calls', 'iteration'] as const;

/** Which trajectories the list shows, and in which order. */
export interface Query {
  /** Words that the id, the task or any message contains, in any case. */
  readonly text: string;
  readonly status: Row['status'] | 'any';
  /** `'alerts'`: named by a monitor. `'tools'`: called tools. `'unscored'`: without a reward. */
  readonly only: 'any' | 'alerts' | 'tools' | 'unscored';
  readonly iteration: number | undefined;
  readonly group: string | undefined;
  readonly sort: (typeof sortKeys)[number];
  readonly direction: 'up' | 'down';
}

/** The list as it begins. */
export const everything: Query = {
  text: '',
  status: 'any',
  only: 'any',
  iteration: undefined,
  group: undefined,
  sort: 'order',
  direction: 'up',
};

/** Whether the row alone shows that the text occurs in the trajectory. */
function rowMentions({ id, task, opening }: Row, text: string): boolean {
  return `${id}\n${task}\n${opening}`.toLowerCase().includes(text.toLowerCase());
}

/**
 * Places of the rows that the query selects, in its order. Rows without the value they are sorted by come last.
 *
 * @param mentioned - Places of rows in whose messages the text was found.
 */
export function selectRows(
  rows: readonly Row[],
  query: Query,
  mentioned: ReadonlySet<number> = new Set(),
): readonly number[] {
  const { text, sort, direction } = query;
  const places = rows.flatMap((row, place) =>
    matches(row, query) && (text === '' || rowMentions(row, text) || mentioned.has(place)) ? [place] : [],
  );
  if (sort === 'order') return direction === 'up' ? places : places.reverse();
  const sign = direction === 'up' ? 1 : -1;
  return places.sort((a, b) => {
    const [first, second] = [rows[a]![sort] ?? undefined, rows[b]![sort] ?? undefined];
    if (first === undefined || second === undefined)
      return Number(first === undefined) - Number(second === undefined) || a - b;
    return (first - second) * sign || a - b;
  });
}

function matches(row: Row, { status, only, iteration, group }: Query): boolean {
  if (status !== 'any' && row.status !== status) return false;
  if (iteration !== undefined && row.iteration !== iteration) return false;
  if (group !== undefined && row.group !== group) return false;
  if (only === 'alerts') return row.alerts.length > 0;
  if (only === 'tools') return row.calls > 0;
  return only !== 'unscored' || (row.reward ?? undefined) === undefined;
}

/** A query as parameters of the page's address. What is as it begins is left out. */
export function parametersOf(query: Query): readonly (readonly [string, string])[] {
  return Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === everything[name as keyof Query] ? [] : [[name, String(value)] as const],
  );
}

/** The query of an address. What it does not understand is as it begins. */
export function queryOf(parameters: { get(name: string): string | null }): Query {
  const one = <Value extends string>(name: string, known: readonly Value[], otherwise: Value) =>
    known.find((value) => value === parameters.get(name)) ?? otherwise;
  const iteration = Number.parseInt(parameters.get('iteration') ?? '', 10);
  return {
    text: parameters.get('text') ?? '',
    status: one('status', ['completed', 'truncated', 'aborted', 'failed', 'pending'], 'any' as never),
    only: one('only', ['any', 'alerts', 'tools', 'unscored'], 'any'),
    iteration: Number.isNaN(iteration) ? undefined : iteration,
    group: parameters.get('group') ?? undefined,
    sort: one('sort', sortKeys, 'order'),
    direction: one('direction', ['up', 'down'], 'up'),
  };
}
