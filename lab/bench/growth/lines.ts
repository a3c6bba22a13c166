import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { measureGenerate } from '../generate.ts';
import type { Measurement, MeasureOptions } from '../measurement.ts';
import { processorName } from '../peer-sides.ts';
import { type Line, summarize } from '../report.ts';
import { measureTrainStep } from '../train-step.ts';
import { type GrowthAxis, type GrowthName, growthAxes } from './axes.ts';
import { type GrowthPoint, growthPlot } from './plot.ts';

/** One point, in this process. @param subject - Such as `length=1024`. */
export function measureGrowth(subject: string, options: MeasureOptions): Promise<Measurement> {
  const [name, value] = subject.split('=') as [GrowthName, string];
  const axis: GrowthAxis = growthAxes[name];
  const shape = axis.shape(Number(value));
  return axis.measures === 'generate' ? measureGenerate(shape, options) : measureTrainStep(shape, options);
}

/**
 * Time and memory against what grows. `exponent` says how the time of a line grew from the line before: 1 is in proportion.
 *
 * @param measure - Measures a subject in a process of its own.
 */
export async function* growthLines(
  { rounds, plot, ...options }: MeasureOptions & { readonly rounds: number; readonly plot: string },
  measure: (subject: string) => Promise<Measurement>,
): AsyncGenerator<Line> {
  const found: Partial<Record<GrowthName, GrowthPoint[]>> = {};
  const base = { name: 'growth', processor: processorName, threads: options.threads, rounds };
  for (const [name, axis] of Object.entries(growthAxes) as [GrowthName, GrowthAxis][]) {
    const points: GrowthPoint[] = [];
    for (const at of axis.values) {
      const measured: Measurement[] = [];
      for (let round = 0; round < rounds; round++) measured.push(await measure(`${name}=${at}`));
      const { milliseconds, peakRssMiB } = summarize(measured);
      const exponent = exponentFrom(points.at(-1), { at, milliseconds });
      points.push({ at, milliseconds, peakRssMiB });
      const load = Number(loadavg()[0]!.toFixed(1));
      const figures = {
        value: Number(milliseconds.toFixed(1)),
        unit: 'ms',
        peakRssMiB: Math.round(peakRssMiB),
      };
      yield { ...base, load, axis: name, at, ...figures, ...(exponent !== undefined && { exponent }) };
    }
    found[name] = points;
  }
  if (plot !== '') await writeFile(plot, growthPlot(found as Record<GrowthName, GrowthPoint[]>));
}

type Timed = Pick<GrowthPoint, 'at' | 'milliseconds'>;

function exponentFrom(before: Timed | undefined, now: Timed): number | undefined {
  if (before === undefined) return undefined;
  const slope = Math.log(now.milliseconds / before.milliseconds) / Math.log(now.at / before.at);
  return Number(slope.toFixed(2));
}
