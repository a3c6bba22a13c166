import { Fragment } from 'preact';
import type { RunView } from '../../src/run-page/view.ts';

/** Columns of a table. More do not fit on paper. */
const mostColumns = 6;

/** Options in which the runs differ. Many runs are rows, and their options columns of one or more tables. */
export function Differences({ runs }: { readonly runs: readonly RunView[] }) {
  if (runs.length < 2) return null;
  const options = [...new Set(runs.flatMap(({ configuration }) => Object.keys(configuration)))].sort();
  const different = options.filter(
    (option) => new Set(runs.map(({ configuration }) => configuration[option])).size > 1,
  );
  const names = runs.map(({ name }) => name);
  const configured = (run: number, option: number) => runs[run]!.configuration[different[option]!] ?? '';
  const isByRun = runs.length > mostColumns;
  const tables = isByRun ? Math.ceil(different.length / mostColumns) : Math.min(1, different.length);
  return (
    <>
      <h2>Differences</h2>
      {different.length === 0 && <p class="empty">The configurations of these runs are equal.</p>}
      {Array.from({ length: tables }, (_, table) => table * mostColumns).map((from) =>
        isByRun ? (
          <Table
            key={from}
            corner="Run"
            columns={different.slice(from, from + mostColumns)}
            rows={names}
            cell={(row, column) => configured(row, from + column)}
          />
        ) : (
          <Table
            key={from}
            corner="Option"
            columns={names}
            rows={different}
            cell={(row, column) => configured(column, row)}
          />
        ),
      )}
    </>
  );
}

function Table({
  corner,
  columns,
  rows,
  cell,
}: {
  readonly corner: string;
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  readonly cell: (row: number, column: number) => string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: It scrolls.
    <div class="scroll" tabIndex={0}>
      <table class="differences" style={{ minWidth: `${15 * (columns.length + 1)}ch` }}>
        <caption>Options in which the runs differ</caption>
        <thead>
          <tr>
            <th>{corner}</th>
            {columns.map((name) => (
              <th key={name}>{breakable(name)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((name, row) => (
            <tr key={name}>
              <th scope="row">{breakable(name)}</th>
              {columns.map((column, place) => (
                <td key={column}>{cell(row, place)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A name that is broken between its parts if it is too long for a line. */
function breakable(name: string) {
  return name.split(/(?<=[./_-])|(?<=[a-z])(?=[A-Z])/).map((part, at) => (
    <Fragment key={at}>
      {part}
      <wbr />
    </Fragment>
  ));
}
