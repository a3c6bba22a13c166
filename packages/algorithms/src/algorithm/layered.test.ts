import { describe, expect, it } from 'vitest';
import { resolveRlOptions } from '../loop/options.ts';
import { surrogateKinds } from '../loss/surrogates.ts';
import { layered } from './layered.ts';
import type { AlgorithmOptions } from './options.ts';
import { type AlgorithmPreset, algorithmPresets } from './presets.ts';

const presets = Object.entries(algorithmPresets).flatMap(([algorithm, byName]) =>
  Object.entries(byName as Record<string, AlgorithmPreset>).map(
    ([name, preset]) => [algorithm, name, preset] as const,
  ),
);

/** What the loop reads of a preset. */
const loopOptions = ({
  gae: _,
  variant: __,
  reinforce: ___,
  ...options
}: AlgorithmPreset): AlgorithmOptions => options;

describe.each(presets)('%s with the preset %s', (_, __, preset) => {
  it.each(surrogateKinds)('takes the surrogate %s', (surrogate) => {
    const options = layered<AlgorithmOptions>({ loss: { clipLow: 0.1, dualClip: 2 } }, loopOptions(preset), {
      loss: { surrogate },
    });
    expect(() => resolveRlOptions(options)).not.toThrow();
    expect(options.loss?.surrogate).toBe(surrogate);
  });
});

describe('layers', () => {
  it('keep the bounds that the surrogate reads', () => {
    const below = { loss: { clipLow: 0.1, clipHigh: 0.3, dualClip: 2, logRatioLimit: 7 } };
    expect(layered<AlgorithmOptions>(below, {}).loss).toEqual(below.loss);
    expect(layered<AlgorithmOptions>(below, { loss: { surrogate: 'gmpo' } }).loss).toEqual({
      surrogate: 'gmpo',
      clipLow: 0.1,
      clipHigh: 0.3,
      logRatioLimit: 7,
    });
    expect(layered<AlgorithmOptions>(below, { loss: { surrogate: 'vespo' } }).loss).toEqual({
      surrogate: 'vespo',
      logRatioLimit: 7,
    });
  });

  it('keep the conventions of an aggregation whose mode alone is given, but not its divisor', () => {
    const { trl, tinker } = algorithmPresets.grpo;
    const aggregation = 'sequence-mean-token-mean';
    expect(layered<AlgorithmOptions>(trl, { aggregation }).aggregation).toEqual({
      mode: aggregation,
      emptySequences: 'count',
    });
    expect(layered<AlgorithmOptions>(tinker, { aggregation }).aggregation).toEqual({ mode: aggregation });
  });

  it('leave a bound that the caller wrote, so that it is refused by name', () => {
    const options = layered<AlgorithmOptions>(algorithmPresets.grpo.verl, {
      loss: { surrogate: 'sapo', dualClip: 4 },
    });
    expect(() => resolveRlOptions(options)).toThrow(/dualClip: the surrogate 'sapo' does not read it/);
  });

  it("have TRL's weights of the KL and no lower bound of CISPO", () => {
    const { loss } = resolveRlOptions(
      layered<AlgorithmOptions>(algorithmPresets.grpo.trl, { loss: { surrogate: 'cispo', clipHigh: 4 } }),
    );
    expect(loss).toMatchObject({ klWeight: 'ratio', clipHigh: 4 });
    expect(loss.clipLow).toBeUndefined();
  });
});
