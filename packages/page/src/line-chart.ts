import { type Html, html } from './html.ts';
import { shortNumber, ticks } from './scale.ts';

/** One point of a curve. */
export interface Point {
  readonly step: number;
  readonly value: number;
}

/** A named curve. Points are in the order of their steps. */
export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
  /** Area from `low` to `high` behind the curve, in the order of steps. */
  readonly band?:
    | readonly { readonly step: number; readonly low: number; readonly high: number }[]
    | undefined;
}

/** A named range of steps to mark. */
export interface Mark {
  readonly from: number;
  readonly to: number;
  /** Chooses the colour. */
  readonly level: 'low' | 'medium' | 'high' | 'critical';
  readonly name: string;
}

/** How a chart is drawn. */
export interface ChartOptions {
  /** Named ranges behind the curves. Default none. */
  readonly marks?: readonly Mark[] | undefined;
  /** `'share'` draws an axis from 0 to 1. Default `'fit'`. */
  readonly axis?: 'fit' | 'share' | undefined;
  /** A named level to draw a line at, such as that of an alarm. Default none. */
  readonly level?:
    | {
        /** Where the line is, on the axis of the values. */
        readonly value: number;
        /** What is written at the line. */
        readonly name: string;
      }
    | undefined;
}

const width = 440;
const height = 236;
const margin = { left: 52, right: 14, top: 10, bottom: 26 };
/** Above this number, points that scatter are drawn faintly with a running mean over them. */
const noisyFrom = 40;
/** Above this number, the points of curves and bands are thinned. */
const mostPoints = 600;

/** Draws curves over the same steps as an SVG. Values that are not finite leave gaps. */
export function lineChart(
  title: string,
  series: readonly Series[],
  { marks = [], axis: kind = 'fit', level }: ChartOptions = {},
): Html {
  const values = series
    .flatMap(({ points, band = [] }) => [
      ...points.map(({ value }) => value),
      ...band.flatMap(({ low, high }) => [low, high]),
    ])
    .filter(isDrawable);
  if (values.length === 0) return html`<p class="empty">No finite values.</p>`;
  const steps = series.flatMap(({ points }) => points.map(({ step }) => step));
  const x = axis(extent(steps), [margin.left, width - margin.right]);
  const shown = level === undefined ? values : [...values, level.value];
  const range = kind === 'share' ? shareRange(shown) : padded(extent(shown));
  const y = axis(range, [height - margin.bottom, margin.top]);
  const label = `${title}: ${series.map(summaryOf).join('; ')}`;
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${marks.map((mark) => markBand(mark, x))}${grid(x, y)}${level === undefined ? '' : levelLine(level, y)}${series.map((one, index) => curve(one, index, x, y))}</svg>`;
}

/** Maps numbers to places on an axis. */
interface Axis {
  readonly domain: readonly [number, number];
  place(value: number): number;
}

function axis(domain: readonly [number, number], [from, to]: readonly [number, number]): Axis {
  const span = domain[1] - domain[0] || 1;
  return { domain, place: (value) => from + ((value - domain[0]) / span) * (to - from) };
}

/** Beyond this, differences of values overflow. */
function isDrawable(value: number): boolean {
  return Math.abs(value) < 1e300;
}

function extent(values: readonly number[]): [number, number] {
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
}

/** From 0 to 1, or further if a value lies outside. */
function shareRange(values: readonly number[]): [number, number] {
  const [low, high] = extent(values);
  return [Math.min(0, low), Math.max(1, high)];
}

function levelLine({ value, name }: NonNullable<ChartOptions['level']>, y: Axis): Html {
  const place = y.place(value).toFixed(1);
  return html`<line class="level-line" x1="${margin.left}" x2="${width - margin.right}" y1="${place}" y2="${place}"/><text class="tick" x="${margin.left + 4}" y="${(y.place(value) - 5).toFixed(1)}">${name}</text>`;
}

function padded([low, high]: readonly [number, number]): [number, number] {
  // Of shares and counts, zeros say more at the foot of an axis than in its middle.
  if (low === 0 && high === 0) return [0, 1];
  const padding = (high - low) * 0.06 || Math.abs(high) * 0.1;
  return [low - padding, high + padding];
}

function grid(x: Axis, y: Axis): Html {
  const right = width - margin.right;
  const horizontal = ticks(...y.domain, 4).map((value) => {
    const place = y.place(value).toFixed(1);
    return html`<line class="grid" x1="${margin.left}" x2="${right}" y1="${place}" y2="${place}"/><text class="tick" x="${margin.left - 8}" y="${place}" dy="0.32em" text-anchor="end">${shortNumber(value)}</text>`;
  });
  const wholeSteps = ticks(...x.domain, 5).filter(Number.isInteger);
  const vertical = wholeSteps.map((value) => {
    const place = x.place(value).toFixed(1);
    return html`<text class="tick" x="${place}" y="${height - 8}" text-anchor="middle">${shortNumber(value)}</text>`;
  });
  return html`<g aria-hidden="true">${horizontal}${vertical}</g>`;
}

/** A range of steps as a column. A single step is still visible. */
function markBand({ from, to, level, name }: Mark, x: Axis): Html {
  const [left, right] = [x.place(Math.max(from, x.domain[0])), x.place(Math.min(to, x.domain[1]))];
  if (!(right >= left)) return html``;
  const place = Math.max(margin.left, Math.min(left - 1.5, width - margin.right - 3));
  const range = from === to ? `step ${from}` : `steps ${from} to ${to}`;
  return html`<rect class="alert-${level}" x="${place.toFixed(1)}" y="${margin.top}" width="${Math.max(3, right - left + 3).toFixed(1)}" height="${height - margin.top - margin.bottom}"><title>${name}, ${range}</title></rect>`;
}

/** The area between two curves. */
function areaOf(band: NonNullable<Series['band']>, x: Axis, y: Axis): string {
  const drawn = thinned(band).filter(({ low, high }) => isDrawable(low) && isDrawable(high));
  const upper = drawn.map(({ step, high }) => `${x.place(step).toFixed(1)} ${y.place(high).toFixed(1)}`);
  const lower = drawn
    .map(({ step, low }) => `${x.place(step).toFixed(1)} ${y.place(low).toFixed(1)}`)
    .reverse();
  return drawn.length === 0 ? '' : `M${[...upper, ...lower].join('L')}Z`;
}

function curve({ name, points, band = [] }: Series, index: number, x: Axis, y: Axis): Html {
  const kind = `series-${index % 6}`;
  const drawn = thinned(points);
  const isNoisy = points.length > noisyFrom && scatters(points);
  const bold = isNoisy ? runningMean(drawn) : drawn;
  const last = bold.findLast(({ value }) => isDrawable(value));
  return html`<g class="${kind}">${band.length > 0 ? html`<path class="band" d="${areaOf(band, x, y)}"/>` : ''}${isNoisy ? html`<path class="raw" d="${pathOf(drawn, x, y)}"/>` : ''}<path class="line" d="${pathOf(bold, x, y)}"/>${last ? html`<circle r="3.5" cx="${x.place(last.step).toFixed(1)}" cy="${y.place(last.value).toFixed(1)}"><title>${name}: ${shortNumber(last.value)} at step ${last.step}</title></circle>` : ''}</g>`;
}

function pathOf(points: readonly Point[], x: Axis, y: Axis): string {
  let command = 'M';
  let path = '';
  for (const { step, value } of points) {
    if (isDrawable(value)) {
      path += `${command}${x.place(step).toFixed(1)} ${y.place(value).toFixed(1)}`;
      command = 'L';
    } else command = 'M';
  }
  return path;
}

/** Every n-th point and the last. */
function thinned<P>(points: readonly P[]): readonly P[] {
  const stride = Math.ceil(points.length / mostPoints);
  return points.filter((_, index) => index % stride === 0 || index === points.length - 1);
}

/** Whether a curve turns at more than a tenth of its points. Noise turns at two thirds, and a schedule hardly ever. */
function scatters(points: readonly Point[]): boolean {
  const moves = points
    .slice(1)
    .map(({ value }, index) => Math.sign(value - points[index]!.value))
    .filter((move) => move !== 0);
  const turns = moves.filter((move, index) => index > 0 && move !== moves[index - 1]);
  return turns.length > points.length / 10;
}

/** Mean of the points within a twentieth of the curve to either side. */
function runningMean(points: readonly Point[]): Point[] {
  const reach = Math.max(2, Math.round(points.length / 20));
  return points.map(({ step }, index) => {
    const near = points
      .slice(Math.max(0, index - reach), index + reach + 1)
      .map(({ value }) => value)
      .filter(isDrawable);
    return { step, value: near.reduce((sum, value) => sum + value, 0) / near.length };
  });
}

function summaryOf({ name, points }: Series): string {
  const finite = points.filter(({ value }) => isDrawable(value));
  const [first, last] = [finite[0], finite.at(-1)];
  if (first === undefined || last === undefined) return `${name} has no finite values`;
  return `${name} from ${shortNumber(first.value)} at step ${first.step} to ${shortNumber(last.value)} at step ${last.step}`;
}
