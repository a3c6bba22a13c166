import { dataTable } from './data-table.ts';
import { type Html, html } from './html.ts';
import { shortNumber } from './scale.ts';

/** The numbers of one step. */
export interface ValueRow {
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Longer tables are thinned to about this many rows. */
const mostRows = 300;

/** Every value of a run, one row per step. */
export function valueTable(run: string, rows: readonly ValueRow[], names: readonly string[]): Html {
  const stride = Math.ceil(rows.length / mostRows);
  const shown = rows.filter((_, index) => index % stride === 0 || index === rows.length - 1);
  const note =
    stride > 1 ? html`<p class="empty">1 in ${stride} of ${rows.length} rows, and the last.</p>` : html``;
  const cells = shown.map(({ step, metrics }) => [
    step,
    ...names.map((name) => (Object.hasOwn(metrics, name) ? shortNumber(metrics[name]!) : '')),
  ]);
  const columns = ['step', ...names];
  return html`${note}${dataTable({ caption: `Values of ${run}`, columns, rows: cells, kind: 'numbers' })}`;
}
