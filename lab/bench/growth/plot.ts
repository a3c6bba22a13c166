import { type GrowthName, growthAxes } from './axes.ts';

/** What was measured at one place of an axis. */
export interface GrowthPoint {
  readonly at: number;
  readonly milliseconds: number;
  readonly peakRssMiB: number;
}

const panel = { width: 250, height: 210, left: 16, right: 54, top: 44, bottom: 26 };
const perRow = 4;
const colors = { milliseconds: '#2563eb', peakRssMiB: '#d97706' };

/** Time and memory of each axis as one SVG. Both scales are logarithmic, and a thin line shows growth in proportion. */
export function growthPlot(found: Readonly<Record<GrowthName, readonly GrowthPoint[]>>): string {
  const names = Object.keys(growthAxes) as GrowthName[];
  const size = { width: perRow * panel.width, height: Math.ceil(names.length / perRow) * panel.height };
  const panels = names.map((name, index) => {
    const place = `${(index % perRow) * panel.width}, ${Math.floor(index / perRow) * panel.height}`;
    return `<g transform="translate(${place})">${panelOf(name, found[name])}</g>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}" ` +
    'font-family="sans-serif" font-size="11"><title>Time and memory against length, sequences, vocabulary, layers, answers, ' +
    `rows and turns</title><rect width="100%" height="100%" fill="white"/>${panels.join('')}</svg>\n`
  );
}

function panelOf(name: GrowthName, points: readonly GrowthPoint[]): string {
  const { measures, title } = growthAxes[name];
  const curves = (['milliseconds', 'peakRssMiB'] as const).map((field) => curveOf(points, field));
  const [first, last] = [points[0]!, points.at(-1)!];
  const proportional = [first, last].map(({ at }) => ({ at, value: at / first.at }));
  const reach = scaleOf(points);
  const guide = `<polyline fill="none" stroke="#bbb" stroke-dasharray="3 3" points="${pathOf(proportional, reach)}"/>`;
  const marks = points.map(
    ({ at }) =>
      `<text x="${reach.x(at)}" y="${panel.height - 8}" text-anchor="middle" fill="#666">${at}</text>`,
  );
  const heading = measures === 'generate' ? 'Generation' : 'Training step';
  return (
    `<text x="8" y="16" font-weight="bold">${heading}</text><text x="8" y="32" fill="#444">${title}</text>` +
    guide +
    curves.join('') +
    marks.join('')
  );
}

type Scale = ReturnType<typeof scaleOf>;

/** Values are relative to the first. */
function scaleOf(points: readonly GrowthPoint[]) {
  const [first, last] = [points[0]!, points.at(-1)!];
  const highest = Math.max(
    last.at / first.at,
    ...points.flatMap((point) => [
      point.milliseconds / first.milliseconds,
      point.peakRssMiB / first.peakRssMiB,
    ]),
  );
  const width = panel.width - panel.left - panel.right;
  const height = panel.height - panel.top - panel.bottom;
  const part = (value: number, largest: number) => Math.log(Math.max(value, 1)) / Math.log(largest);
  return {
    x: (at: number) => Math.round(panel.left + width * part(at / first.at, last.at / first.at)),
    y: (ratio: number) => Math.round(panel.top + height * (1 - part(ratio, highest))),
  };
}

function pathOf(values: readonly { readonly at: number; readonly value: number }[], scale: Scale): string {
  return values.map(({ at, value }) => `${scale.x(at)},${scale.y(value)}`).join(' ');
}

function curveOf(points: readonly GrowthPoint[], field: 'milliseconds' | 'peakRssMiB'): string {
  const scale = scaleOf(points);
  const values = points.map((point) => ({ at: point.at, value: point[field] / points[0]![field] }));
  const last = points.at(-1)!;
  const text = field === 'milliseconds' ? timeText(last[field]) : `${Math.round(last[field])} MiB`;
  const y = scale.y(values.at(-1)!.value);
  return (
    `<polyline fill="none" stroke="${colors[field]}" stroke-width="2" points="${pathOf(values, scale)}"/>` +
    `<text x="${panel.width - panel.right + 5}" y="${y + 4}" fill="${colors[field]}">${text}</text>`
  );
}

function timeText(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
