import { shortNumber } from '@rlp/page';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { chartData, type Line } from './chart-data.ts';
import { axes, type Settings } from './controls.tsx';
import type { DrawnRun } from './drawn-runs.ts';
import { drawPlot } from './plot.ts';
import type { CurvesByRun } from './source.ts';

/** Rows of the table of a chart. */
const tableRows = 200;

/** Curves of one metric. Arrow keys move along them, `t` shows a table, Escape undoes the zoom. */
export function Chart({
  metric,
  drawn,
  curves,
  settings,
}: {
  readonly metric: string;
  readonly drawn: readonly DrawnRun[];
  readonly curves: CurvesByRun;
  readonly settings: Settings;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [at, setAt] = useState<number>();
  const [isTable, setTable] = useState(false);
  const { axis, smoothing } = settings;
  const data = useMemo(() => chartData(drawn, curves, { axis, smoothing }), [drawn, curves, axis, smoothing]);
  useEffect(() => {
    if (isTable || data.lines.length === 0) return;
    const drawing = drawPlot(box.current!, data, axes[axis], setAt);
    plot.current = drawing.plot;
    return () => {
      plot.current = undefined;
      drawing.end();
    };
  }, [data, axis, isTable]);
  if (data.lines.length === 0) return <p class="empty">No run that is shown has it.</p>;
  const { xs, lines } = data;
  const move = (to: number) => {
    const place = Math.max(0, Math.min(xs.length - 1, to));
    plot.current?.setCursor({ left: plot.current.valToPos(xs[place]!, 'x'), top: 0 });
    setAt(place);
  };
  const press = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: (at ?? xs.length) - 1,
      ArrowRight: (at ?? -1) + 1,
      Home: 0,
      End: xs.length - 1,
    };
    if (steps[event.key] !== undefined) move(steps[event.key]!);
    else if (event.key === 't') setTable(!isTable);
    else if (event.key === 'Escape') plot.current?.setScale('x', { min: xs[0]!, max: xs.at(-1)! });
    else return;
    event.preventDefault();
  };
  return (
    <>
      <button type="button" class="as-table" onClick={() => setTable(!isTable)}>
        {isTable ? 'Chart' : 'Table'}
      </button>
      {isTable ? (
        <Table xs={xs} lines={lines} axis={axes[axis]} caption={metric} />
      ) : (
        <div
          ref={box}
          class="plot"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: Arrow keys read the values.
          tabIndex={0}
          role="img"
          aria-label={`${metric} over ${axes[axis]}${namesOf(lines)}. Arrow keys read values, t shows a table.`}
          onKeyDown={press}
        />
      )}
      <Readout x={xs[at ?? -1]} axis={axes[axis]} lines={lines} at={at ?? xs.length - 1} />
    </>
  );
}

/** The names of a few lines, or the number of many and the first of them. */
function namesOf(lines: readonly Line[]): string {
  const names = lines.map(({ name }) => name);
  if (names.length <= 4) return `: ${names.join(', ')}`;
  return `, ${names.length} curves: ${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;
}

/** The values at the cursor, or the last ones. */
function Readout({
  x,
  axis,
  lines,
  at,
}: {
  readonly x: number | undefined;
  readonly axis: string;
  readonly lines: readonly Line[];
  readonly at: number;
}) {
  const values = lines.map((line) => ({
    ...line,
    value: x === undefined ? line.values.findLast((value) => value !== null) : line.values[at],
  }));
  return (
    <ul class="readout" aria-live="polite">
      <li>{x === undefined ? 'last' : `${shortNumber(x)} ${axis}`}</li>
      {values.slice(0, 8).map(({ name, colour, value }) => (
        <li key={name} class={`series-${colour}`} title={name}>
          {value === null || value === undefined ? '–' : shortNumber(value)}
        </li>
      ))}
    </ul>
  );
}

function Table({
  xs,
  lines,
  axis,
  caption,
}: {
  readonly xs: readonly number[];
  readonly lines: readonly Line[];
  readonly axis: string;
  readonly caption: string;
}) {
  const every = Math.ceil(xs.length / tableRows);
  const places = [...xs.keys()].filter((place) => place % every === 0 || place === xs.length - 1);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: It scrolls.
    <div class="scroll" tabIndex={0}>
      <table class="numbers">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th>{axis}</th>
            {lines.map(({ name }) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {places.map((place) => (
            <tr key={place}>
              <th scope="row">{shortNumber(xs[place]!)}</th>
              {lines.map(({ name, values }) => (
                <td key={name}>{values[place] == null ? '' : shortNumber(values[place]!)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
