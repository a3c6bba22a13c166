import type { ShownStep } from './payload.ts';

/** What tokens can be coloured by. */
export const shadeNames = ['nothing', 'logprob', 'advantage', 'ratio', 'entropy', 'mask'] as const;

/** One of {@link shadeNames}. */
export type ShadeName = (typeof shadeNames)[number];

/** The colour of a token: one of two hues, and how strong it is, from 0 to 1. */
export interface Shade {
  readonly hue: 'more' | 'less' | 'neutral';
  readonly strength: number;
}

/** Logprob at which a token is as unlikely as the colours tell. */
const unlikely = -6;
/** Factor at which a ratio is as far from 1 as the colours tell. */
const farRatio = Math.log(1.5);

/** The values of a step's tokens, if they are known. Shape: `[T]`. */
export function shadeValues({ trace, behaviorLogprobs }: ShownStep, by: ShadeName) {
  const values = {
    nothing: undefined,
    logprob: behaviorLogprobs,
    advantage: trace?.advantages,
    ratio: trace?.ratios,
    entropy: trace?.entropies,
    mask: trace?.mask,
  }[by];
  return values?.length === 0 ? undefined : values;
}

/** What can be told of the tokens of these steps. */
export function knownShades(steps: readonly ShownStep[]): readonly ShadeName[] {
  return shadeNames.filter(
    (by) => by === 'nothing' || steps.some((step) => step.trace?.tokenTexts && shadeValues(step, by)),
  );
}

/** The largest size of a value within these steps, which gets the strongest colour. */
export function shadeLimit(steps: readonly ShownStep[], by: ShadeName): number {
  return steps.reduce(
    (limit, step) =>
      (shadeValues(step, by) ?? []).reduce((most, value) => Math.max(most, Math.abs(value)), limit),
    0,
  );
}

/** The colour of a value. `limit` is that of {@link shadeLimit}. */
export function shadeOf(by: ShadeName, value: number, limit: number): Shade {
  const signed = (size: number): Shade => {
    return { hue: size >= 0 ? 'more' : 'less', strength: Math.min(1, Math.abs(size)) };
  };
  switch (by) {
    case 'logprob':
      return { hue: 'less', strength: Math.min(1, Math.abs(value / unlikely)) };
    case 'advantage':
      return signed(value / (limit || 1));
    case 'ratio':
      return signed(Math.log(value) / farRatio);
    case 'entropy':
      return { hue: 'neutral', strength: Math.min(1, value / (limit || 1)) };
    case 'mask':
      return { hue: 'more', strength: value > 0 ? 0.6 : 0 };
    default:
      return { hue: 'neutral', strength: 0 };
  }
}
