import { bandOf, type Curve, drawnAt, over, positions, smoothed } from '../../src/run-page/curve.ts';
import type { Settings } from './controls.tsx';
import type { DrawnRun } from './drawn-runs.ts';
import type { CurvesByRun } from './source.ts';

/** Values at each position. */
type Values = readonly (number | null)[];

/** A line of a chart. */
export interface Line {
  readonly name: string;
  readonly colour: number;
  readonly dash: number;
  readonly values: Values;
  /** Least and greatest of the seeds. */
  readonly band?: { readonly low: Values; readonly high: Values } | undefined;
  /** The values before they were smoothed. */
  readonly raw?: Values | undefined;
}

/** What a chart draws. */
export interface ChartData {
  readonly xs: readonly number[];
  readonly lines: readonly Line[];
}

/** Lines of the runs that have the metric. */
export function chartData(
  drawn: readonly DrawnRun[],
  curves: CurvesByRun,
  { axis, smoothing }: Pick<Settings, 'axis' | 'smoothing'>,
): ChartData {
  const placed = drawn.map(({ runs }) =>
    runs.flatMap((run): Curve[] => {
      const curve = curves[run.name];
      if (curve === undefined) return [];
      const placed = axis === 'step' ? curve : over(curve, run.spent[axis]);
      return placed.steps.length === 0 ? [] : [placed];
    }),
  );
  const xs = positions(placed.flat());
  const lines = drawn.flatMap((each, at): Line[] => {
    const own = placed[at]!;
    if (own.length === 0) return [];
    const smooth = own.map(({ steps, values }) => ({ steps, values: smoothed(values, smoothing) }));
    const { name, colour, dash } = each;
    if (own.length === 1) {
      const raw = smoothing > 0 ? drawnAt(own[0]!, xs) : undefined;
      return [{ name, colour, dash, values: drawnAt(smooth[0]!, xs), raw }];
    }
    const { mean, low, high } = bandOf(smooth, xs);
    return [{ name, colour, dash, values: mean, band: { low, high } }];
  });
  return { xs, lines };
}
