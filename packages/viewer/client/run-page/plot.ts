import { shortNumber } from '@rlp/page';
import uPlot from 'uplot';
import type { ChartData, Line } from './chart-data.ts';

const height = 190;
const sync = uPlot.sync('runs');

/** A drawing, until it is ended. */
export interface Drawing {
  readonly plot: uPlot;
  end(): void;
}

/** Draws lines into an element, in the colours of the page, and again when they or its width change. */
export function drawPlot(
  box: HTMLElement,
  data: ChartData,
  axis: string,
  pointed: (place: number | undefined) => void,
): Drawing {
  const seriesData = columns(data);
  const plot = new uPlot(options(box, data, axis, pointed), seriesData as uPlot.AlignedData, box);
  const resized = new ResizeObserver(() => plot.setSize({ width: widthOf(box), height }));
  resized.observe(box);
  // Canvas keeps the colours it was drawn with.
  const redraw = () => plot.redraw(false);
  const themes = ['(prefers-color-scheme: dark)', 'print'].map((query) => matchMedia(query));
  for (const theme of themes) theme.addEventListener('change', redraw);
  return {
    plot,
    end() {
      resized.disconnect();
      for (const theme of themes) theme.removeEventListener('change', redraw);
      plot.destroy();
    },
  };
}

function widthOf(box: HTMLElement): number {
  return Math.max(160, box.clientWidth);
}

/** A colour of the page as it is now. */
const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function columns({ xs, lines }: ChartData): readonly (readonly (number | null)[])[] {
  return [
    xs,
    ...lines.flatMap(({ values, band, raw }) => [
      ...(band ? [band.high, band.low] : []),
      ...(raw ? [raw] : []),
      values,
    ]),
  ];
}

function options(
  box: HTMLElement,
  { lines }: ChartData,
  axis: string,
  pointed: (place: number | undefined) => void,
): uPlot.Options {
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  for (const line of lines) {
    if (line.band) {
      bands.push({
        series: [series.length, series.length + 1],
        fill: () => `${colourOf(`--s${line.colour}`)}2e`,
      });
      series.push(hidden(line), hidden(line));
    }
    if (line.raw) series.push({ ...drawn(line), alpha: 0.25, width: 1 });
    series.push(drawn(line));
  }
  return {
    ...{ width: widthOf(box), height, series, bands, padding: [8, 16, 0, 0] },
    legend: { show: false },
    cursor: {
      sync: { key: sync.key, setSeries: false },
      drag: { x: true, y: false },
      points: { show: false },
    },
    scales: { x: { time: false } },
    axes: [axisOf({ label: axis, labelSize: 16, labelFont: font, size: 30 }), axisOf({ size: 52 })],
    hooks: { setCursor: [({ cursor: { idx } }) => pointed(idx ?? undefined)] },
  };
}

const font = '12px system-ui, sans-serif';

function axisOf(more: uPlot.Axis): uPlot.Axis {
  return {
    ...{ font, stroke: () => colourOf('--soft') },
    grid: { stroke: () => colourOf('--grid'), width: 1 },
    ticks: { show: false },
    values: (_, splits) => splits.map(shortNumber),
    ...more,
  };
}

function drawn({ name, values, colour, dash }: Line): uPlot.Series {
  // A run of one iteration has no line.
  const isPoint = values.filter((value) => value !== null).length === 1;
  return {
    ...{ label: name, width: 2, spanGaps: true, points: { show: isPoint, size: 7 } },
    stroke: () => colourOf(`--s${colour}`),
    ...(dash > 0 && { dash: [6 * dash, 4] }),
  };
}

/** An edge of a band. */
function hidden({ name }: Line): uPlot.Series {
  return { label: name, width: 0, spanGaps: true, points: { show: false } };
}
