/**
 * Speed of training steps and of generation on a provider. One JSON line for each.
 *
 *     node --conditions=@rlp/source --import tsx lab/gpu/speed.ts PROVIDER SHAPE RUNS
 */
import { measureGenerate } from '../bench/generate.ts';
import type { MeasureOptions } from '../bench/measurement.ts';
import { type ShapeName, shapes } from '../bench/shapes.ts';
import { measureTrainStep } from '../bench/train-step.ts';

const [provider = 'cuda', shape = 'M', runs = '5'] = process.argv.slice(2);
const options: MeasureOptions = {
  provider: provider as MeasureOptions['provider'],
  ...{ threads: 2, warmup: 2, runs: Number(runs), weights: 'shared', profiling: 'runs' },
};
for (const [name, side, measure, weights] of [
  ['train-step', provider, measureTrainStep, 'shared'],
  ['train-step', `${provider} in float16`, measureTrainStep, 'float16'],
  ['generate', provider, measureGenerate, 'shared'],
  ['generate', `${provider} in float16`, measureGenerate, 'float16'],
] as const) {
  try {
    const { milliseconds, tokens } = await measure(shapes[shape as ShapeName], { ...options, weights });
    console.log(JSON.stringify({ name, side, milliseconds, tokens }));
  } catch (error) {
    console.log(JSON.stringify({ name, side, error: String(error) }));
  }
}
